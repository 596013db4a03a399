"""Loss against depth steps: of trained weights run at other depths, and of models trained at each depth."""

from collections.abc import Mapping
from typing import Any

from tipshare.kinds import title_of
from training.results.groups import RunGroup
from training.results.selection import Selection
from training.results.summaries import LOSS, Summary, depth_loss, losses_by_depth, summarise_group, summarise_runs
from training.results.views.figure import FigureView, Mark, loss_label, of_summary

# The columns of the CSV: names there, and attributes of the marks.
BY_DEPTH = {
    "model": "title",
    "depth_steps": "at",
    "loss": "value",
    "low": "low",
    "high": "high",
    "seeds": "num_seeds",
}


def depth_view(selection: Selection) -> FigureView[Mark]:
    """Loss against depth steps."""
    group = selection.group_with(lambda group: len({mark.title for mark in _marks(group, selection.metric)}))
    missing = ""
    if selection.source == "published":
        missing = "nothing was published of other numbers of depth steps: switch to measured"
    elif group is None:
        missing = "no run was read with other numbers of depth steps, and none was trained with them"
    return FigureView(
        name="depth_steps",
        title="Loss against depth steps",
        form="plane",
        runs=(group or selection.group).name,
        points=_marks(group, selection.metric) if group else (),
        csv=BY_DEPTH,
        x_label="depth steps (larger mark: as trained)",
        y_label=loss_label(LOSS, selection.group.unit),
        missing=missing,
        names_runs=True,
    )


def _marks(group: RunGroup, metric: str) -> list[Mark]:
    """Models read at several depths, then kinds trained at several depths, with broken lines."""
    marks = []
    for label, runs in group.runs.items():
        usual = group.config_of(label).steps
        # Runs that another recipe made may have been read at their own number of depth steps alone.
        read = [run for run in runs if losses_by_depth(run.final)]
        common = set.intersection(*(set(losses_by_depth(run.final)) for run in read)) if read else set()
        found = {steps: summarise_runs(read, depth_loss(steps)) for steps in common}
        marks += marks_by_depth(found, usual, label=label, title=title_of(label), kind=group.kind_of(label), line=0)
    for kind, losses in _trained_depths(group, metric).items():
        title = f"{title_of(kind)}, trained at each depth"
        marks += marks_by_depth(losses, None, label=kind, title=title, kind=kind, line=1)
    return marks


def marks_by_depth(losses: Mapping[int, Summary], usual: int | None, **line: Any) -> list[Mark]:
    """The marks of one line, in the order of depth, the usual one large; none if there is only one depth."""
    marks = [
        Mark(at=steps, **of_summary(loss), size="large" if steps == usual else "usual", **line)
        for steps, loss in sorted(losses.items())
    ]
    return marks if len(marks) > 1 else []


def _trained_depths(group: RunGroup, metric: str) -> dict[str, dict[int, Summary]]:
    """By kind: loss by number of layers, where models of a kind differ in that alone."""
    found: dict[str, dict[str, dict[int, Summary]]] = {}
    for label, summary in summarise_group(group, metric).items():
        config = group.config_of(label)
        rest = repr(config.replace(num_layers=1))
        found.setdefault(config.kind, {}).setdefault(rest, {})[config.num_layers] = summary
    return {kind: max(families.values(), key=len) for kind, families in found.items()}
