"""Results and significance as Markdown, LaTeX and CSV."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tipshare.kinds import title_of
from training.report.markdown import markdown_table
from training.results.groups import RunGroup
from training.results.rows import ResultRow, Source, result_rows
from training.results.significance import Comparison, compare_group
from training.results.summaries import LOSS, Summary

Row = TypeVar("Row")
NOTHING = "n/a"


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column: its heading, what a reader sees of a row, whether it is a number, and whether the best is bold."""

    heading: str
    show: Callable[[Row], str]
    is_number: bool = True
    is_judged: bool = False


def results_markdown(group: RunGroup, *, metric: str = LOSS, source: Source = "measured") -> str:
    """The results table of a group in Markdown; the lowest measured loss is bold."""
    rows = result_rows(group, metric=metric, source=source)
    return _markdown(_result_columns(rows, metric), rows, best=_best(rows))


def results_latex(group: RunGroup, *, metric: str = LOSS, source: Source = "measured") -> str:
    """The results table of a group in LaTeX, for booktabs."""
    rows = result_rows(group, metric=metric, source=source)
    return _latex(_result_columns(rows, metric), rows, best=_best(rows))


def results_csv(group: RunGroup, *, metric: str = LOSS, source: Source = "measured") -> str:
    """The results table of a group as plain numbers, unrounded."""
    names = ("model", "kind", "source", "parameters", "effective_parameters", "compression", "metric", "mean")
    names += ("deviation", "low", "high", "seeds", "bits_per_byte", "step_ms", "memory_mb")
    lines = [
        (
            *(row.label, row.kind, row.source, row.parameters, row.effective, row.compression, metric, row.loss.mean),
            *(row.loss.deviation, row.loss.low, row.loss.high, len(row.loss.values)),
            *(row.bits_per_byte, row.step_ms, row.memory_mb),
        )
        for row in result_rows(group, metric=metric, source=source)
    ]
    return to_csv(names, lines)


def significance_markdown(group: RunGroup, *, metric: str = LOSS) -> str:
    """All pairs of models in Markdown: difference, p-values and effect size."""
    return _markdown(_PAIR_COLUMNS, compare_group(group, metric))


def significance_latex(group: RunGroup, *, metric: str = LOSS) -> str:
    """All pairs of models in LaTeX, for booktabs."""
    return _latex(_PAIR_COLUMNS, compare_group(group, metric))


def significance_csv(group: RunGroup, *, metric: str = LOSS) -> str:
    """All pairs of models as plain numbers, unrounded."""
    names = ("first", "second", "metric", "common_seeds", "difference", "low", "high", "test", "p_value", "p_holm")
    names += ("paired_p", "welch_p", "permutation_p", "cohens_d", "hedges_g", "hedges_g_low", "hedges_g_high")
    lines = []
    for each in compare_group(group, metric):
        tests = [outcome.p_value if outcome else None for outcome in (each.paired, each.welch, each.permutation)]
        size = each.effect
        sizes = [size.cohens_d, size.hedges_g, size.low, size.high] if size else [None] * 4
        decided = (each.difference, each.low, each.high, each.test, each.p_value, each.p_holm)
        lines.append((each.first, each.second, metric, len(each.seeds), *decided, *tests, *sizes))
    return to_csv(names, lines)


def count_in_words(count: int) -> str:
    """A parameter count for readers: 4.9 M, 812 k."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {unit}" if count < 100 * size else f"{count / size:.0f} {unit}"
    return str(count)


def show_p(p_value: float | None) -> str:
    """A p-value with two or three digits, never rounded to zero."""
    if p_value is None:
        return NOTHING
    if p_value >= 0.001:
        return f"{p_value:.3g}"
    mantissa, _, exponent = f"{p_value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def show_loss(row: ResultRow) -> str:
    """The loss of a row: mean and half-width of the interval."""
    return show_mean(row.loss)


def show_mean(summary: Summary) -> str:
    """Mean and half-width of the interval; the mean alone for one seed."""
    reach = summary.half_width
    # Narrow intervals get another digit rather than ± 0.000.
    digits = 4 if reach is not None and 0 < reach < 0.001 else 3
    return f"{summary.mean:.{digits}f}" + (f" ± {reach:.{digits}f}" if reach is not None else "")


def show_compression(compression: float | None) -> str:
    """How a model's size compares with the baseline's."""
    if compression is None:
        return NOTHING
    if 0.995 <= compression < 1.005:
        return "1"
    return f"{compression:.3g}x smaller" if compression > 1 else f"{1 / compression:.3g}x larger"


def _result_columns(rows: Sequence[ResultRow], metric: str) -> list[Column[ResultRow]]:
    """The columns that have something to show; the source is one only if there are two of them."""
    heading = "loss (nats/byte)" if metric == LOSS else metric
    plain = {row.plain for row in rows}
    size = count_in_words(plain.pop()) if len(plain) == 1 else "of its size"
    columns: list[Column[ResultRow]] = [
        Column("model", lambda row: row.title, is_number=False),
        Column("source", lambda row: row.source, is_number=False),
        Column("parameters", lambda row: _or_nothing(row.parameters, count_in_words)),
        Column("effective", lambda row: _or_nothing(row.effective, count_in_words)),
        Column(f"against plain {size}", lambda row: show_compression(row.compression)),
        Column(heading, show_loss, is_judged=True),
        Column("seeds", lambda row: str(len(row.loss.values))),
        Column("bits/byte", lambda row: _or_nothing(row.bits_per_byte, "{:.3f}".format)),
        Column("ms/step", lambda row: _or_nothing(row.step_ms, "{:.1f}".format)),
        Column("memory (MB)", lambda row: _or_nothing(row.memory_mb, "{:,.0f}".format)),
    ]
    sources = {row.source for row in rows}
    return [
        each
        for each in columns
        if (each.heading != "source" or len(sources) > 1)
        and (not rows or any(each.show(row) != NOTHING for row in rows))
    ]


_PAIR_COLUMNS: list[Column[Comparison]] = [
    Column("first", lambda pair: title_of(pair.first), is_number=False),
    Column("second", lambda pair: title_of(pair.second), is_number=False),
    Column("difference", lambda pair: f"{pair.difference:+.3f}"),
    Column(
        "95 % interval",
        lambda pair: f"{pair.low:+.3f} to {pair.high:+.3f}" if pair.low is not None else NOTHING,
    ),
    Column("pairs", lambda pair: str(len(pair.seeds))),
    Column("p paired", lambda pair: show_p(pair.paired.p_value if pair.paired else None)),
    Column("p Welch", lambda pair: show_p(pair.welch.p_value if pair.welch else None)),
    Column("p sign flip", lambda pair: show_p(pair.permutation.p_value if pair.permutation else None)),
    Column("p Holm", lambda pair: show_p(pair.p_holm)),
    Column("Hedges' g", lambda pair: _show_effect(pair)),
]


def _show_effect(pair: Comparison) -> str:
    if pair.effect is None:
        return NOTHING
    shown = f"{pair.effect.hedges_g:.1f}"
    return shown if pair.effect.low is None else f"{shown} [{pair.effect.low:.1f}, {pair.effect.high:.1f}]"


def _or_nothing(value, show: Callable[..., str]) -> str:
    return NOTHING if value is None else show(value)


def _best(rows: Sequence[ResultRow]) -> int | None:
    """The row of the lowest measured loss, if there is anything to be lower than."""
    measured = [place for place, row in enumerate(rows) if row.source == "measured"]
    return min(measured, key=lambda place: rows[place].loss.mean) if len(measured) > 1 else None


def _markdown(columns: Sequence[Column[Row]], rows: Sequence[Row], *, best: int | None = None) -> str:
    lines = []
    for place, row in enumerate(rows):
        cells = [each.show(row) for each in columns]
        judged = [each.is_judged and place == best for each in columns]
        lines.append([f"**{cell}**" if bold else cell for cell, bold in zip(cells, judged, strict=True)])
    heads, is_number = [each.heading for each in columns], [each.is_number for each in columns]
    return markdown_table(heads, lines, is_number=is_number) + "\n"


def _latex(columns: Sequence[Column[Row]], rows: Sequence[Row], *, best: int | None = None) -> str:
    layout = "".join("r" if each.is_number else "l" for each in columns)
    lines = [f"\\begin{{tabular}}{{{layout}}}", "\\toprule"]
    lines += [" & ".join(_escape(each.heading) for each in columns) + " \\\\", "\\midrule"]
    for place, row in enumerate(rows):
        cells = [_escape(each.show(row)) for each in columns]
        judged = [each.is_judged and place == best for each in columns]
        cells = [f"\\textbf{{{cell}}}" if bold else cell for cell, bold in zip(cells, judged, strict=True)]
        lines.append(" & ".join(cells) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
}


def _escape(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)


def to_csv(names: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Lines under their names as CSV; `None` is an empty cell."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if cell is None else cell for cell in line] for line in lines)
    return written.getvalue()
