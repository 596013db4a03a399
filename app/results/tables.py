"""The results table on the page, and as files."""

from collections.abc import Sequence
from typing import Any

from app.results.data import Source, rows_of
from training.report.tables import results_latex, to_csv
from training.results.groups import RunGroup
from training.results.rows import ResultRow

COLUMNS = ("Model", "Source", "Recipe", "Data", "Seeds", "Loss", "± 95 %", "Bits/byte")
COLUMNS += ("Parameters (M)", "In one pass (M)", "ms/step", "Memory (MB)")
# What Gradio sorts each column by.
TYPES: list[Any] = ["str"] * 4 + ["number"] * 8


def table_rows(groups: Sequence[RunGroup], source: Source) -> list[list[Any]]:
    """A line per model and source, rounded for readers; what was not measured is left empty."""
    return [_shown(group, row) for group in groups for row in rows_of(group, source)]


def table_csv(groups: Sequence[RunGroup], source: Source) -> str:
    """The same lines as plain numbers, unrounded."""
    names = ("model", "kind", "source", "recipe", "corpus", "training_steps", "seeds", "loss", "low", "high")
    names += ("deviation", "bits_per_byte", "parameters", "effective_parameters", "step_ms", "memory_mb")
    lines = [
        (
            *(row.label, row.kind, row.source, group.recipe, group.corpus, group.num_steps, len(row.loss.values)),
            *(row.loss.mean, row.loss.low, row.loss.high, row.loss.deviation, row.bits_per_byte),
            *(row.parameters, row.effective, row.step_ms, row.memory_mb),
        )
        for group in groups
        for row in rows_of(group, source)
    ]
    return to_csv(names, lines)


def table_latex(groups: Sequence[RunGroup], source: Source) -> str:
    """A table for booktabs per group; a comment names the group."""
    return "\n".join(f"% {group.name}\n{results_latex(group, source=source)}" for group in groups)


def _shown(group: RunGroup, row: ResultRow) -> list[Any]:
    return [
        row.title,
        row.source,
        group.name,
        group.corpus,
        len(row.loss.values),
        _rounded(row.loss.mean, 3),
        _rounded(row.loss.half_width, 3),
        _rounded(row.bits_per_byte, 3),
        _millions(row.parameters),
        _millions(row.effective),
        _rounded(row.step_ms, 1),
        _rounded(row.memory_mb, 0),
    ]


def _rounded(value: float | None, digits: int) -> float | int | None:
    if value is None:
        return None
    return round(value, digits) if digits else round(value)


def _millions(count: int | None) -> float | None:
    return None if count is None else round(count / 1e6, 2)
