"""The results table as the page shows it: numbers that can be sorted."""

from collections.abc import Callable, Sequence
from typing import Any

from training.results.selection import Selection
from training.results.views.table import value_at


def _rounded(digits: int | None) -> Callable[[Any], Any]:
    return lambda value: None if value is None else round(value, digits)


def _millions(count: int | None) -> float | None:
    return None if count is None else round(count / 1e6, 2)


# By heading: where a row holds the number, and how it is rounded for readers.
_SHOWN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "Model": ("title", str),
    "Source": ("source", str),
    "Recipe": ("group.name", str),
    "Data": ("group.corpus", str),
    "Seeds": ("loss.num_seeds", int),
    "Loss": ("loss.mean", _rounded(3)),
    "± 95 %": ("loss.half_width", _rounded(3)),
    "Bits/byte": ("bits_per_byte", _rounded(3)),
    "Parameters (M)": ("parameters", _millions),
    "In one pass (M)": ("effective_parameters", _millions),
    "ms/step": ("step_ms", _rounded(1)),
    "Memory (MB)": ("memory_mb", _rounded(None)),
}
COLUMNS = tuple(_SHOWN)
# What Gradio sorts each column by.
TYPES: list[Any] = ["str" if show is str else "number" for _, show in _SHOWN.values()]


def table_rows(selections: Sequence[Selection]) -> list[list[Any]]:
    """A line per model and source, rounded for readers; what was not measured is left empty."""
    rows = [row for selection in selections for row in selection.rows()]
    return [[show(value_at(row, path)) for path, show in _SHOWN.values()] for row in rows]
