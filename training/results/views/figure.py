"""The data of a figure, for whatever draws it."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from training.results.views.table import Table

Point = TypeVar("Point")


@dataclass(frozen=True, kw_only=True)
class FigureView(Generic[Point]):
    """All that a figure shows.

    Attributes:
        name: Name of the figure in files and on the page.
        title: What it shows, without the runs.
        runs: Name of the group of runs that it shows, which may be another one than was chosen.
        points: What is drawn: marks, bars, lines or cells.
        table: The numbers that are drawn, as a CSV holds them.
        x_label: What the horizontal axis is, with its unit.
        y_label: What the vertical axis is, with its unit.
        rows: Names of the rows of a matrix, from top to bottom.
        columns: Names of its columns, from left to right.
        missing: In words, why there is nothing to draw; empty if there is.
    """

    name: str
    title: str
    runs: str
    points: tuple[Point, ...]
    table: Table
    x_label: str = ""
    y_label: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    missing: str = ""

    def to_csv(self) -> str:
        """The numbers that are drawn; ValueError where nothing is."""
        if self.missing:
            raise ValueError(f"there is no figure {self.name} for {self.runs}: {self.missing}")
        return self.table.to_csv()


def loss_label(metric: str) -> str:
    """The label of an axis of losses."""
    return "validation loss (nats per byte)" if metric == "valid_loss" else metric
