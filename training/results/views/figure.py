"""The data of a figure, in three forms that any library can draw: a list of models, marks in a plane, a matrix."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from training.results.formatting import show_mean
from training.results.groups import Unit, collect
from training.results.summaries import LOSS, Summary
from training.results.views.table import to_csv


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A mark: in a list beside the model's name, in a plane at a place; marks of one title and line are joined.

    Attributes:
        label: The model's label in the records.
        title: Name of the model, or of the line, that the mark belongs to.
        value: The number that is shown, between `low` and `high` where those are known.
        at: Where it stands on the horizontal axis of a plane.
        text: The value in words.
        size: Seeds are small beside their mean; the usual one of several values is large.
        line: Which pattern of line joins the marks of this title, solid first; None for marks alone.
        panel: Marks of different panels do not share an axis.
        seed: The seed of a single run.
        num_seeds: Number of runs behind the value.
        is_on_front: Whether no other model of the figure is at once further left and lower.
    """

    label: str
    title: str
    kind: str
    value: float
    low: float | None = None
    high: float | None = None
    at: float = 0.0
    text: str = ""
    source: str = "measured"
    size: Literal["small", "usual", "large"] = "usual"
    line: int | None = None
    panel: str = ""
    seed: int | None = None
    num_seeds: int = 1
    is_on_front: bool = False

    @property
    def is_published(self) -> bool:
        return self.source == "published"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of a matrix: where it stands, its colour, lines of text in it, and a longer text about it.

    A cell without a colour has nothing to show.
    """

    row: str
    column: str
    colour: str | None = None
    lines: tuple[str, ...] = ()
    words: str = ""


Point = TypeVar("Point", bound=Mark | Cell, covariant=True)


@dataclass(frozen=True, kw_only=True)
class FigureView(Generic[Point]):
    """All that a figure shows.

    Attributes:
        name: Name of the figure in files and on the page.
        title: What it shows, without the runs.
        runs: Name of the group of runs that it shows, which may be another one than was chosen.
        csv: The columns of a CSV after the recipe: their names, and the paths of their values in a point.
        x_label: What the horizontal axis is, with its unit.
        y_label: What the vertical axis is, with its unit.
        missing: In words, why there is nothing to draw; empty if there is.
        is_count: Whether the horizontal axis of a plane is a count of parameters, on a logarithmic scale.
        is_range: Whether `low` and `high` are the range of the seeds, and not an interval of the mean.
        names_runs: Whether the runs may be others than the chosen ones, so that their name must stand beside them.
        names_marks: Whether the text of every mark of a plane stands beside it.
        meanings: What colours mean.
        has_front: Whether marks are models of which those further left and lower are better, so that the better corner
            and the Pareto front can be shown.
        ceiling: Where the vertical axis of a plane ends, if what lies above would flatten the rest.
    """

    name: str
    title: str
    form: Literal["list", "plane", "matrix"]
    runs: str
    points: Sequence[Point]
    csv: Mapping[str, str]
    x_label: str = ""
    y_label: str = ""
    missing: str = ""
    is_count: bool = False
    is_range: bool = False
    names_runs: bool = False
    names_marks: bool = False
    meanings: Mapping[str, str] = field(default_factory=dict)
    has_front: bool = False
    ceiling: float | None = None

    def to_csv(self) -> str:
        """The numbers that are drawn; ValueError where nothing is."""
        self.check()
        columns = {"recipe": "recipe", **{name: f"point.{path}" for name, path in self.csv.items()}}
        return to_csv([{"recipe": self.runs, "point": point} for point in self.points], columns)

    def check(self) -> None:
        """Raise ValueError if there is nothing to draw."""
        if self.missing:
            raise ValueError(f"there is no figure {self.name} for {self.runs}: {self.missing}")


# Columns of a CSV that tell which model a mark is of.
WHO = {"model": "label", "kind": "kind", "source": "source"}


def loss_label(metric: str, unit: Unit = "nats") -> str:
    """The label of an axis of losses."""
    return f"validation loss ({unit} per byte)" if metric == LOSS else metric


def of_summary(loss: Summary) -> dict[str, Any]:
    """The fields of a mark that shows a mean over seeds."""
    ends = {"value": loss.mean, "low": loss.low, "high": loss.high}
    return {**ends, "num_seeds": loss.num_seeds, "text": show_mean(loss)}


def with_front(marks: Sequence[Mark]) -> list[Mark]:
    """The marks, with those on the Pareto front marked.

    What was published cannot be compared with what was measured here: beside it, it has no part in the front.
    """
    measured = [mark for mark in marks if not mark.is_published] or marks

    def is_beaten(mark: Mark) -> bool:
        no_worse = [each for each in measured if each.at <= mark.at and each.value <= mark.value]
        return any((each.at, each.value) != (mark.at, mark.value) for each in no_worse)

    return [replace(mark, is_on_front=mark in measured and not is_beaten(mark)) for mark in marks]


# Nats above the losses of models at their own number of depth steps: what lies higher would flatten differences of a
# hundredth.
TALLEST = 0.3


def cut_off(marks: Sequence[Mark], own_losses: Iterable[float]) -> dict[str, Any]:
    """The label and the end of the vertical axis of a figure of losses at several numbers of depth steps."""
    ceiling = TALLEST + max(own_losses, default=0.0)
    is_cut = any(mark.value > ceiling for mark in marks)
    return {
        "y_label": loss_label(LOSS) + ("\ncut off above" if is_cut else ""),
        "ceiling": ceiling if is_cut else None,
    }


def front_of(marks: Sequence[Mark]) -> list[Mark]:
    """The Pareto front, from left to right: marks that no other one beats both across and up."""
    return sorted((mark for mark in marks if mark.is_on_front), key=lambda mark: (mark.at, -mark.value))


def lines_of(marks: Sequence[Mark]) -> dict[str, list[Mark]]:
    """Marks by their titles."""
    return collect(marks, lambda mark: mark.title)


def rows_and_columns(cells: Sequence[Cell]) -> tuple[list[str], list[str]]:
    """Names of the rows of a matrix from top to bottom, and of its columns from left to right."""
    return list(dict.fromkeys(cell.row for cell in cells)), list(dict.fromkeys(cell.column for cell in cells))
