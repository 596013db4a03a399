"""What size buys: every kind at several sizes, against its stored parameters and the operations of a byte."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tipshare.kinds import title_of
from training.results.formatting import count_in_words, show_mean
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord
from training.results.summaries import LOSS, summarise_group
from training.results.views.figure import FigureView, Mark, loss_label
from training.results.views.losses import with_front
from training.results.views.table import Column, Table

SCALING = "scaling-1000"
FEWEST_SIZES = 2
BYTES_PER_WEIGHT = 4

Cost = Literal["parameters", "flops"]
COSTS: dict[Cost, tuple[str, str]] = {
    "parameters": ("total", "stored parameters"),
    "flops": ("forward_per_token_formula", "operations of a forward pass per byte (FLOPs)"),
}


def scaling_group(records: Sequence[RunRecord]) -> RunGroup | None:
    """The runs at several sizes, if there are any."""
    return next((each for each in group_records(records) if each.name == SCALING), None)


def scaling_table(group: RunGroup) -> Table:
    """Size, cost and loss of every model, each kind from small to large; on a front: no other is smaller and better."""
    fronts = {cost: {mark.label for mark in _marks(group, cost) if mark.is_on_front} for cost in COSTS}
    rows = [
        {
            "model": label,
            "parameters": _cost(group, label, "parameters"),
            "megabytes": _cost(group, label, "parameters") * BYTES_PER_WEIGHT / 1e6,
            "flops": _cost(group, label, "flops"),
            "loss": loss,
            **{f"on {cost}": "yes" if label in front else "" for cost, front in fronts.items()},
        }
        for label, loss in summarise_group(group).items()
    ]
    columns = [
        Column("model", "model", title_of, is_text=True),
        Column("parameters", "parameters", ","),
        Column("megabytes", "file in float32 (MB)", ".1f"),
        Column("flops", "FLOPs per byte", lambda count: count_in_words(round(count))),
        Column("loss", "loss (nats/byte)", show_mean),
        Column("loss.num_seeds", "seeds"),
        Column("on parameters", "on the front of size", is_text=True),
        Column("on flops", "on the front of FLOPs", is_text=True),
    ]
    return Table(rows, columns)


def scaling_view(records: Sequence[RunRecord], cost: Cost) -> FigureView[Mark]:
    """Loss against what a model costs, a line for every kind, with the front marked."""
    group, (_, words) = scaling_group(records), COSTS[cost]
    marks = _marks(group, cost) if group else []
    few = len(marks) < FEWEST_SIZES
    return FigureView(
        name=f"scaling_{cost}",
        title=f"Validation loss against {words}",
        form="plane",
        runs=SCALING,
        points=[] if few else marks,
        csv={"model": "label", cost: "at", "loss": "value", "low": "low", "high": "high", "front": "is_on_front"},
        x_label=words,
        y_label=loss_label(LOSS),
        missing=f"{SCALING} has not been run at {FEWEST_SIZES} sizes" if few else "",
        is_count=True,
        has_front=True,
    )


def _marks(group: RunGroup, cost: Cost) -> list[Mark]:
    marks = [
        Mark(
            label=label,
            title=title_of(group.kind_of(label)),
            kind=group.kind_of(label),
            at=_cost(group, label, cost),
            value=loss.mean,
            low=loss.low,
            high=loss.high,
            num_seeds=loss.num_seeds,
            text=show_mean(loss),
            line=0,
        )
        for label, loss in summarise_group(group).items()
        if _cost(group, label, cost)
    ]
    return sorted(with_front(marks), key=lambda mark: (mark.kind, mark.at))


def _cost(group: RunGroup, label: str, cost: Cost) -> float:
    run = group.runs[label][0]
    numbers: Mapping[str, Any] = run.parameters if cost == "parameters" else run.flops
    return numbers.get(COSTS[cost][0], 0.0)
