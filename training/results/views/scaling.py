"""What size buys: every kind at several sizes, against its stored parameters and the operations of a byte."""

from collections.abc import Sequence
from dataclasses import replace

from tipshare.kinds import rank_of, title_of
from training.results.formatting import count_in_words, show_mean
from training.results.groups import RunGroup, find_group
from training.results.records import RunRecord
from training.results.selection import Against, Selection
from training.results.views.figure import FigureView, Mark
from training.results.views.losses import parameters_view
from training.results.views.table import Column, Table

SCALING = "scaling-1000"
BYTES_PER_WEIGHT = 4


def scaling_group(records: Sequence[RunRecord]) -> RunGroup | None:
    """The runs at several sizes, if there are any."""
    return find_group(records, SCALING)


def scaling_table(group: RunGroup) -> Table:
    """Size, cost and loss of every model, each kind from small to large; on a front: no other is smaller and better."""
    rows = Selection(group=group, source="measured").rows()
    columns = [
        Column("title", "model", is_text=True),
        Column("parameters", "parameters", ","),
        Column("parameters", "file in float32 (MB)", lambda count: f"{count * BYTES_PER_WEIGHT / 1e6:.1f}"),
        Column("flops", "training FLOPs per byte", lambda count: count_in_words(round(count))),
        Column("loss", "loss (nats/byte)", show_mean),
        Column("loss.num_seeds", "seeds"),
        _front_column(group, "parameters", "on the front of size"),
        _front_column(group, "flops", "on the front of FLOPs"),
    ]
    return Table(sorted(rows, key=lambda row: (rank_of(row.kind), row.parameters or 0)), columns)


def scaling_view(group: RunGroup, cost: Against) -> FigureView[Mark]:
    """Loss against what a model costs, a line for every kind, with the front marked."""
    view = parameters_view(Selection(group=group, source="measured", against=cost))
    marks = [replace(mark, title=title_of(mark.kind), line=0) for mark in view.points]
    return replace(view, name=f"scaling_{cost}", points=sorted(marks, key=lambda mark: (mark.kind, mark.at)))


def _front_column(group: RunGroup, cost: Against, heading: str) -> Column:
    front = {mark.label for mark in scaling_view(group, cost).points if mark.is_on_front}
    return Column("label", heading, lambda label: "yes" if label in front else "", is_text=True)
