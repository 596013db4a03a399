"""What a table or figure is made of: runs, their source, a metric."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from training.results.groups import RunGroup
from training.results.rows import ResultRow, Source, result_rows
from training.results.summaries import LOSS

CurveOf = Literal["validation", "training"]
Against = Literal["parameters", "flops", "step_ms"]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The runs to look at, and how.

    Attributes:
        group: The runs of one recipe; of the chosen models alone, if models were chosen.
        source: Measured here, published, or both.
        metric: The final number that is compared.
        others: Groups whose runs a figure may show instead, where the chosen ones lack what it is about.
        curve: Which loss the learning curves are of.
        window: Neighbouring points of a learning curve that are averaged.
        against: What models are compared with besides their loss: stored parameters, operations, or measured time.
    """

    group: RunGroup
    source: Source = "both"
    metric: str = LOSS
    others: tuple[RunGroup, ...] = ()
    curve: CurveOf = "validation"
    window: int = 1
    against: Against = "parameters"

    def rows(self) -> list[ResultRow]:
        """The rows of the results table."""
        return result_rows(self.group, metric=self.metric, source=self.source)

    def group_with(self, count: Callable[[RunGroup], int]) -> RunGroup | None:
        """The chosen runs if they have any of what is counted, else the group with the most of it; None without any.

        None as well where only published numbers are asked for: those are a table and curves, nothing else.
        """
        if self.source == "published":
            return None
        if count(self.group):
            return self.group
        richest = max(self.others, key=count, default=None)
        return richest if richest is not None and count(richest) else None
