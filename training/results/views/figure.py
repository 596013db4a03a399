"""The data of a figure, for whatever draws it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from training.results.views.table import to_csv

Point = TypeVar("Point")


@dataclass(frozen=True)
class FigureView(Generic[Point]):
    """All that a figure shows.

    Attributes:
        name: Name of the figure in files and on the page.
        title: What it shows, without the runs.
        runs: Name of the group of runs that it shows, which may be another one than was chosen.
        points: What is drawn.
        csv: The columns of a CSV: their names, and the paths of their values in a point.
        x_label: What the horizontal axis is, with its unit.
        y_label: What the vertical axis is, with its unit.
        missing: In words, why there is nothing to draw; empty if there is.
    """

    name: str
    title: str
    runs: str
    points: Sequence[Point]
    csv: Mapping[str, str]
    x_label: str = ""
    y_label: str = ""
    missing: str = ""

    def to_csv(self) -> str:
        """The numbers that are drawn; ValueError where nothing is."""
        self.check()
        return to_csv(self.points, self.csv)

    def check(self) -> None:
        """Raise ValueError if there is nothing to draw."""
        if self.missing:
            raise ValueError(f"there is no figure {self.name} for {self.runs}: {self.missing}")


def by_title(points: Iterable[Point]) -> dict[str, list[Point]]:
    """The points of every line of a figure, by the line's title."""
    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(getattr(point, "title"), []).append(point)  # noqa: B009
    return lines


def loss_label(metric: str) -> str:
    """The label of an axis of losses."""
    return "validation loss (nats per byte)" if metric == "valid_loss" else metric
