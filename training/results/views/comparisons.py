"""Whether models differ: every pair as a table and as a matrix."""

from dataclasses import dataclass
from typing import Literal

from tipshare.kinds import title_of
from training.results.formatting import show_effect, show_interval, show_p
from training.results.selection import Selection
from training.results.significance import Comparison, compare_group
from training.results.views.figure import FigureView
from training.results.views.table import Column, Table, make_table
from training.results.wording import significance_in_words

Verdict = Literal["lower", "open", "higher"]
# Blue for lower, orange for higher, as far apart for colour-blind readers as two colours get.
VERDICT_COLOURS: dict[Verdict, str] = {"lower": "#56B4E9", "open": "#F3F4F6", "higher": "#E69F00"}


@dataclass(frozen=True, kw_only=True)
class PairCell:
    """A cell of the matrix.

    Attributes:
        difference: The metric of the row minus that of the column.
        p_value: Corrected over all pairs; None without a test.
        hedges_g: Effect size of the difference; None without a spread.
        verdict: Whether the row is significantly lower or higher.
        words: The comparison in sentences.
    """

    row: str
    column: str
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    hedges_g: float | None
    verdict: Verdict
    words: str


def significance_table(selection: Selection) -> Table:
    """All pairs of models: difference, p-values and effect size."""
    columns: list[Column[Comparison]] = [
        Column("first", lambda pair: pair.first, title_of, is_text=True),
        Column("second", lambda pair: pair.second, title_of, is_text=True),
        Column("metric", lambda pair: pair.metric, heading=""),
        Column("difference", lambda pair: pair.difference, "+.3f"),
        Column("", interval_of, show_interval, "95 % interval"),
        Column("low", lambda pair: pair.low, heading=""),
        Column("high", lambda pair: pair.high, heading=""),
        Column("common_seeds", lambda pair: len(pair.seeds), heading="pairs"),
        Column("test", lambda pair: pair.test, heading=""),
        Column("p_value", lambda pair: pair.p_value, heading=""),
        Column("paired_p", lambda pair: pair.paired and pair.paired.p_value, show_p, "p paired"),
        Column("welch_p", lambda pair: pair.welch and pair.welch.p_value, show_p, "p Welch"),
        Column("permutation_p", lambda pair: pair.permutation and pair.permutation.p_value, show_p, "p sign flip"),
        Column("p_holm", lambda pair: pair.p_holm, show_p, "p Holm"),
        Column("", lambda pair: pair.effect, show_effect, "Hedges' g"),
        Column("cohens_d", lambda pair: pair.effect and pair.effect.cohens_d, heading=""),
        Column("hedges_g", lambda pair: pair.effect and pair.effect.hedges_g, heading=""),
        Column("hedges_g_low", lambda pair: pair.effect and pair.effect.low, heading=""),
        Column("hedges_g_high", lambda pair: pair.effect and pair.effect.high, heading=""),
    ]
    return make_table(columns, compare_group(selection.group, selection.metric))


def significance_view(selection: Selection) -> FigureView[PairCell]:
    """Row minus column for every pair of models, with the corrected p-value and the effect size."""
    pairs = compare_group(selection.group, selection.metric) if selection.source != "published" else ()
    labels = list(dict.fromkeys(label for each in pairs for label in (each.first, each.second)))
    cells = tuple(_cell(pair) for pair in pairs)
    missing = ""
    if selection.source == "published":
        missing = "tests need single runs of ours: switch to measured; what was published stands in the notes"
    elif not any(each.test for each in pairs):
        missing = "the significance matrix needs two models with at least two seeds each"
    columns: list[Column[PairCell]] = [
        Column("row", lambda cell: cell.row),
        Column("column", lambda cell: cell.column),
        Column("difference", lambda cell: cell.difference),
        Column("low", lambda cell: cell.low),
        Column("high", lambda cell: cell.high),
        Column("p_holm", lambda cell: cell.p_value),
        Column("hedges_g", lambda cell: cell.hedges_g),
        Column("row_is", lambda cell: "not significantly different" if cell.verdict == "open" else cell.verdict),
    ]
    return FigureView(
        name="significance",
        title="Difference, row minus column",
        runs=selection.group.name,
        points=cells,
        table=make_table(columns, cells),
        rows=tuple(title_of(label) for label in labels[1:]),
        columns=tuple(title_of(label) for label in labels[:-1]),
        missing=missing,
    )


def _cell(pair: Comparison) -> PairCell:
    verdict: Verdict = "open"
    if pair.is_significant:
        verdict = "lower" if pair.difference > 0 else "higher"
    return PairCell(
        row=title_of(pair.second),
        column=title_of(pair.first),
        difference=-pair.difference,
        low=None if pair.high is None else -pair.high,
        high=None if pair.low is None else -pair.low,
        p_value=pair.p_holm,
        hedges_g=-pair.effect.hedges_g if pair.effect else None,
        verdict=verdict,
        words=significance_in_words(pair),
    )


def interval_of(pair: Comparison) -> tuple[float, float] | None:
    """The interval of a difference; None without a test."""
    return None if pair.low is None or pair.high is None else (pair.low, pair.high)
