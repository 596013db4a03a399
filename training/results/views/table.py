"""One type for all tables: typed rows, what readers see of them, and what a CSV holds of them."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from training.results.formatting import NOTHING


@dataclass(frozen=True)
class Column:
    """A column that readers see.

    Attributes:
        path: Where a row holds the value: names of attributes or keys, or places in a list, joined by dots.
        heading: Heading of the column.
        show: The text of a value: a function of it, or a format such as `.3f`.
        is_text: Whether it is set to the left, as words are.
        is_best: Whether a row's value is the best of those it is compared with.
    """

    path: str
    heading: str
    show: Callable[[Any], str] | str = ""
    is_text: bool = False
    is_best: Callable[[Any], bool] = lambda row: False


@dataclass(frozen=True)
class Cell:
    """What readers see of a value, and whether it is the best of those it is compared with."""

    text: str
    is_best: bool


@dataclass(frozen=True)
class Table:
    """Rows and what is shown of them.

    Attributes:
        csv: The columns of a CSV: their names, and the paths of their values.
        missing: What readers see where there is no value.
    """

    rows: Sequence[Any]
    columns: Sequence[Column]
    csv: Mapping[str, str] = field(default_factory=dict)
    missing: str = NOTHING

    def cells(self) -> list[list[Cell]]:
        """What readers see, row by row."""
        return [[Cell(self._text(row, column), column.is_best(row)) for column in self.columns] for row in self.rows]

    def to_csv(self) -> str:
        return to_csv(self.rows, self.csv)

    def to_rows(self) -> list[dict[str, Any]]:
        """What the CSV holds, for other programs."""
        return [{name: value_at(row, path) for name, path in self.csv.items()} for row in self.rows]

    def _text(self, row: Any, column: Column) -> str:
        value = value_at(row, column.path)
        if value is None:
            return self.missing
        return column.show(value) if callable(column.show) else f"{value:{column.show}}"


def with_values(rows: Sequence[Any], columns: Iterable[Column]) -> list[Column]:
    """The columns that tell readers something: those with a value in any row; all of them if there are no rows."""
    return [each for each in columns if not rows or any(value_at(row, each.path) is not None for row in rows)]


def to_csv(rows: Iterable[Any], columns: Mapping[str, str]) -> str:
    """Unrounded values of rows as CSV, by name and path of every column; what is missing is an empty cell."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([value_at(row, path) for path in columns.values()] for row in rows)
    return written.getvalue()


def named(*names: str) -> dict[str, str]:
    """Columns of a CSV that are called as what they hold."""
    return {name: name for name in names}


def value_at(row: Any, path: str) -> Any:
    """What a row holds under a path such as `final.valid_loss` or `curve.-1`; None if a part is missing."""
    for part in path.split("."):
        if row is None:
            return None
        if isinstance(row, Mapping):
            row = row.get(part)
        else:
            row = row[int(part)] if isinstance(row, Sequence) else getattr(row, part)
    return row
