"""The results table as the page shows it: numbers that can be sorted, the best of each column marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from training.results.groups import Unit
from training.results.rows import ResultRow
from training.results.selection import Selection
from training.results.units import SIZES
from training.results.views.table import value_at

BEST = "font-weight: 700"


@dataclass(frozen=True)
class Shown:
    """A column: where a row holds the value, as what it is shown, and whether the lowest is the best."""

    path: str
    scale: float = 1.0
    digits: int | None = None  # of a number; words if None
    has_best: bool = False

    def value(self, row: ResultRow) -> Any:
        """What the column is sorted by: a number, rounded for readers."""
        value = value_at(row, self.path)
        return value if value is None or self.digits is None else round(value * self.scale, self.digits)


# The losses come first: a phone shows three columns.
_SHOWN: dict[str, Shown] = {
    "Model": Shown("title"),
    "Source": Shown("source"),
    "Loss": Shown("loss.mean", digits=3, has_best=True),
    "± 95 %": Shown("loss.half_width", digits=3),
    "Seeds": Shown("loss.num_seeds", digits=0),
    "Whole text": Shown("bits_per_byte", digits=3, has_best=True),
    "Parameters (M)": Shown("parameters", 1e-6, 2, has_best=True),
    "In one pass (M)": Shown("effective_parameters", 1e-6, 2, has_best=True),
    "MFLOPs/byte": Shown("flops", 1e-6, 1, has_best=True),
    "ms/step": Shown("step_ms", digits=1, has_best=True),
    "Memory (MB)": Shown("memory_mb", digits=0, has_best=True),
    "Recipe": Shown("group.name"),
    "Data": Shown("group.corpus"),
}
COLUMNS = tuple(_SHOWN)
# What Gradio sorts each column by.
TYPES: list[Any] = ["str" if each.digits is None else "number" for each in _SHOWN.values()]
# Times of different devices cannot be compared.
OF_A_DEVICE = ("ms/step", "Memory (MB)")


def dressed_table(selections: Sequence[Selection]) -> dict[str, Any]:
    """A line per model and source as Gradio's table takes it, rounded for readers, and the best measured in bold.

    What was not measured is left empty.
    """
    values = [[column.value(row) for column in _columns(row.group.unit)] for row in _rows(selections)]
    best = best_values(selections)
    styles = [[BEST if (place, name) in best else "" for name in COLUMNS] for place in range(len(values))]
    return {
        "headers": list(COLUMNS),
        "data": values,
        "metadata": {"display_value": [_texts(line) for line in values], "styling": styles},
    }


def best_values(selections: Sequence[Selection]) -> set[tuple[int, str]]:
    """Line and column of the lowest measured value of every recipe, where there are several to compare."""
    found: set[tuple[int, str]] = set()
    by_group: dict[str, list[tuple[int, ResultRow]]] = {}
    for place, row in enumerate(_rows(selections)):
        if not row.is_published:
            by_group.setdefault(row.group.name, []).append((place, row))
    for lines in by_group.values():
        devices = {row.device for _, row in lines}
        for name, column in _SHOWN.items():
            known = [(column.value(row), place) for place, row in lines if column.value(row) is not None]
            is_fair = name not in OF_A_DEVICE or len(devices) == 1
            if column.has_best and is_fair and len({value for value, _ in known}) > 1:
                lowest = min(known)[0]
                found |= {(place, name) for value, place in known if value == lowest}
    return found


def _rows(selections: Sequence[Selection]) -> list[ResultRow]:
    return [row for selection in selections for row in selection.rows()]


def _columns(unit: Unit) -> list[Shown]:
    whole = Shown("bits_per_byte", SIZES[unit] / SIZES["bits"], 3)
    return [whole if name == "Whole text" else column for name, column in _SHOWN.items()]


def _texts(line: Sequence[Any]) -> list[str]:
    return [
        "" if value is None else str(value) if column.digits is None else f"{value:,.{column.digits}f}"
        for value, column in zip(line, _SHOWN.values(), strict=True)
    ]
