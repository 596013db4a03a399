"""Whether models differ: every pair as a table and as a matrix."""

from dataclasses import dataclass

from tipshare.kinds import title_of
from training.results.formatting import show_effect, show_interval, show_p
from training.results.selection import Selection
from training.results.significance import Comparison, compare_group
from training.results.views.figure import Cell, FigureView
from training.results.views.table import Column, Table, named
from training.results.wording import significance_in_words

# Blue for lower, orange for higher, as far apart for colour-blind readers as two colours get.
LOWER, HIGHER, OPEN = "#56B4E9", "#E69F00", "#F3F4F6"
MEANINGS = {LOWER: "row lower, p < 0.05", HIGHER: "row higher, p < 0.05", OPEN: "not significant"}


@dataclass(frozen=True, kw_only=True)
class PairCell(Cell):
    """A pair of models: the metric of the row minus that of the column, with the p-value corrected over all pairs."""

    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    hedges_g: float | None


def significance_table(selection: Selection) -> Table:
    """All pairs of models: difference, p-values and effect size."""
    columns = [
        Column("first", "first", title_of, is_text=True),
        Column("second", "second", title_of, is_text=True),
        Column("difference", "difference", "+.3f"),
        Column("interval", "95 % interval", show_interval),
        Column("num_seeds", "pairs"),
        Column("paired.p_value", "p paired", show_p),
        Column("welch.p_value", "p Welch", show_p),
        Column("permutation.p_value", "p sign flip", show_p),
        Column("p_holm", "p Holm", show_p),
        Column("effect", "Hedges' g", show_effect),
    ]
    csv = named("first", "second", "metric", "difference", "low", "high", "test", "p_value", "p_holm")
    csv["common_seeds"] = "num_seeds"
    csv |= {f"{test}_p": f"{test}.p_value" for test in ("paired", "welch", "permutation")}
    csv |= {"cohens_d": "effect.cohens_d", "hedges_g": "effect.hedges_g"}
    csv |= {"hedges_g_low": "effect.low", "hedges_g_high": "effect.high"}
    return Table(compare_group(selection.group, selection.metric), columns, csv)


def significance_view(selection: Selection) -> FigureView[PairCell]:
    """Row minus column for every pair of models, with the corrected p-value and the effect size."""
    pairs = compare_group(selection.group, selection.metric) if selection.source != "published" else ()
    missing = ""
    if selection.source == "published":
        missing = "tests need single runs of ours: switch to measured; what was published stands in the notes"
    elif not any(each.test for each in pairs):
        missing = "the significance matrix needs two models with at least two seeds each"
    return FigureView(
        name="significance",
        title="Difference, row minus column",
        form="matrix",
        runs=selection.group.name,
        points=[_cell(pair) for pair in pairs],
        csv=named("row", "column", "difference", "low", "high", "p_value", "hedges_g"),
        missing=missing,
        meanings=MEANINGS,
    )


def _cell(pair: Comparison) -> PairCell:
    tested = f"p {show_p(pair.p_holm)}" if pair.p_holm is not None else "no test"
    size = [f"g {-pair.effect.hedges_g:+.1f}"] if pair.effect else []
    return PairCell(
        row=title_of(pair.second),
        column=title_of(pair.first),
        colour=OPEN if not pair.is_significant else LOWER if pair.difference > 0 else HIGHER,
        lines=(f"{-pair.difference:+.3f}", tested, *size),
        words=significance_in_words(pair),
        difference=-pair.difference,
        low=None if pair.high is None else -pair.high,
        high=None if pair.low is None else -pair.low,
        p_value=pair.p_holm,
        hedges_g=-pair.effect.hedges_g if pair.effect else None,
    )
