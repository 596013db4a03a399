"""Loss against depth steps: of trained weights run at other depths, and of models trained at each depth."""

import re
from dataclasses import dataclass

from tipshare.kinds import title_of
from training.results.groups import RunGroup
from training.results.selection import Selection
from training.results.summaries import LOSS, Summary, summarise_group, summarise_runs
from training.results.views.figure import FigureView, loss_label
from training.results.views.losses import LOSSES
from training.results.views.table import named

AT_STEPS = re.compile(r"^valid_loss_at_steps_(\d+)$")


@dataclass(frozen=True)
class DepthPoint:
    """A model's loss at a number of depth steps.

    Attributes:
        runs: Name of the group of runs.
        is_retrained: Whether the points of this line are models of their own, each trained at its depth.
        is_usual: Whether it is the number that the weights were trained with.
    """

    runs: str
    label: str
    title: str
    kind: str
    is_retrained: bool
    depth_steps: int
    is_usual: bool
    loss: Summary


def depth_view(selection: Selection) -> FigureView[DepthPoint]:
    """Loss against depth steps."""
    group = selection.group_with(lambda group: len({each.title for each in _points(group, selection.metric)}))
    missing = ""
    if selection.source == "published":
        missing = "nothing was published of other numbers of depth steps: switch to measured"
    elif group is None:
        missing = "no run was read with other numbers of depth steps, and none was trained with them"
    return FigureView(
        "depth_steps",
        "Loss against depth steps",
        (group or selection.group).name,
        _points(group, selection.metric) if group else (),
        {"recipe": "runs", "model": "label", **named("is_retrained", "depth_steps", "is_usual"), **LOSSES},
        "depth steps",
        loss_label(LOSS),
        missing,
    )


def _points(group: RunGroup, metric: str) -> list[DepthPoint]:
    """The points of models read at several depths, then those of kinds trained at several depths."""
    points = []
    for label, runs in group.runs.items():
        usual = group.config_of(label).num_layers
        common = set.intersection(*(set(run.final) for run in runs))
        found = sorted((int(match[1]), name) for name in common if (match := AT_STEPS.match(name)))
        who = (group.name, label, title_of(label), group.kind_of(label), False)
        for steps, name in found if len(found) > 1 else ():
            points.append(DepthPoint(*who, steps, steps == usual, summarise_runs(runs, name)))
    for kind, losses in _trained_depths(group, metric).items():
        who = (group.name, kind, f"{title_of(kind)}, trained at each depth", kind, True)
        points += [DepthPoint(*who, steps, True, loss) for steps, loss in losses.items()]
    return points


def _trained_depths(group: RunGroup, metric: str) -> dict[str, dict[int, Summary]]:
    """By kind: loss by number of layers, where models of a kind differ in that alone."""
    found: dict[str, dict[str, dict[int, Summary]]] = {}
    for label, summary in summarise_group(group, metric).items():
        config = group.config_of(label)
        rest = repr(config.replace(num_layers=1))
        found.setdefault(config.kind, {}).setdefault(rest, {})[config.num_layers] = summary
    best = {kind: max(families.values(), key=len) for kind, families in found.items()}
    return {kind: dict(sorted(losses.items())) for kind, losses in best.items() if len(losses) > 1}
