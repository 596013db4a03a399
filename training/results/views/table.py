"""One type for all tables: a column knows its numbers for files and its texts for readers."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from training.results.formatting import NOTHING
from training.results.summaries import Summary

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """How a column is made from rows.

    Attributes:
        name: Name in a CSV; empty for a column that only readers see.
        value: What a row holds, unrounded; None where nothing was measured.
        show: What readers see of a value: a function of it, or a format such as `.3f`.
        heading: Heading for readers; the name if left out, empty for a column that only a CSV has.
        is_text: Whether it is set to the left, as words are.
        is_best: Whether a row's cell is the best of those it is compared with.
    """

    name: str
    value: Callable[[Row], Any]
    show: Callable[[Any], str] | str = ""
    heading: str | None = None
    is_text: bool = False
    is_best: Callable[[Row], bool] = lambda row: False


@dataclass(frozen=True)
class Heading:
    """Name of a column in a CSV, its heading for readers, and whether it holds words."""

    name: str
    text: str
    is_text: bool


@dataclass(frozen=True)
class Cell:
    """An unrounded value, the text that readers see of it, and whether it is the best of its kind."""

    value: Any
    text: str
    is_best: bool


@dataclass(frozen=True)
class Table:
    """Headings and cells. `training.report.tables` writes it for readers; as CSV it writes itself."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def for_readers(self) -> "Table":
        """Without the columns that only a CSV has."""
        kept = [place for place, heading in enumerate(self.headings) if heading.text]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return Table(tuple(self.headings[place] for place in kept), rows)

    def numbers(self) -> list[dict[str, Any]]:
        """The unrounded values of every row, by the names that a CSV has for them."""
        named = [(place, heading.name) for place, heading in enumerate(self.headings) if heading.name]
        return [{name: row[place].value for place, name in named} for row in self.rows]

    def to_csv(self) -> str:
        """The unrounded values; what is missing is an empty cell."""
        written = io.StringIO()
        names = [heading.name for heading in self.headings if heading.name]
        writer = csv.DictWriter(written, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.numbers())
        return written.getvalue()


def make_table(columns: Sequence[Column[Row]], rows: Sequence[Row], *, missing: str = NOTHING) -> Table:
    """The table of some rows; `missing` is what readers see where there is no value."""

    def cell(column: Column[Row], row: Row) -> Cell:
        value = column.value(row)
        show = column.show if callable(column.show) else f"{{:{column.show}}}".format
        return Cell(value, missing if value is None else show(value), column.is_best(row))

    headings = tuple(
        Heading(each.name, each.name if each.heading is None else each.heading, each.is_text) for each in columns
    )
    return Table(headings, tuple(tuple(cell(column, row) for column in columns) for row in rows))


def loss_columns(summary_of: Callable[[Row], Summary]) -> list[Column[Row]]:
    """What a CSV holds of a loss: mean, interval, spread and number of seeds."""
    return [
        Column("loss", lambda row: summary_of(row).mean, heading=""),
        Column("low", lambda row: summary_of(row).low, heading=""),
        Column("high", lambda row: summary_of(row).high, heading=""),
        Column("deviation", lambda row: summary_of(row).deviation, heading=""),
        Column("seeds", lambda row: len(summary_of(row).values), heading=""),
    ]
