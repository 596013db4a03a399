"""Loss against depth steps: of trained weights run at other depths, and of models trained at each depth."""

import re
from dataclasses import dataclass

from tipshare.kinds import title_of
from training.results.groups import RunGroup
from training.results.selection import Selection
from training.results.summaries import LOSS, Summary, summarise_group, summarise_runs
from training.results.views.figure import FigureView, loss_label
from training.results.views.table import Column, loss_columns, make_table

AT_STEPS = re.compile(r"^valid_loss_at_steps_(\d+)$")


@dataclass(frozen=True)
class DepthPoint:
    """Loss at a number of depth steps, and whether the weights were trained with it."""

    steps: int
    loss: Summary
    is_trained: bool


@dataclass(frozen=True, kw_only=True)
class DepthLine:
    """One line of the figure; `is_retrained` if every point is another model, trained at that depth."""

    label: str
    title: str
    kind: str
    is_retrained: bool
    points: tuple[DepthPoint, ...]


def depth_view(selection: Selection) -> FigureView[DepthLine]:
    """Loss against depth steps."""
    group = selection.group_with(lambda group: len(depth_lines(group, selection.metric)))
    lines = depth_lines(group, selection.metric) if group else []
    missing = ""
    if selection.source == "published":
        missing = "nothing was published of other numbers of depth steps: switch to measured"
    elif group is None:
        missing = "no run was read with other numbers of depth steps, and none was trained with them"
    columns: list[Column[tuple[DepthLine, DepthPoint]]] = [
        Column("recipe", lambda each: group.name if group else ""),
        Column("model", lambda each: each[0].label),
        Column("how", lambda each: "trained at each depth" if each[0].is_retrained else "same weights"),
        Column("depth_steps", lambda each: each[1].steps),
        Column("is_trained_depth", lambda each: each[1].is_trained),
        *loss_columns(lambda each: each[1].loss),
    ]
    return FigureView(
        name="depth_steps",
        title="Loss against depth steps",
        runs=(group or selection.group).name,
        points=tuple(lines),
        table=make_table(columns, [(line, point) for line in lines for point in line.points]),
        x_label="depth steps",
        y_label=loss_label(LOSS),
        missing=missing,
    )


def depth_lines(group: RunGroup, metric: str = LOSS) -> list[DepthLine]:
    """The lines of a group: models read at several depths, then kinds trained at several depths."""
    lines = []
    for label, runs in group.runs.items():
        usual = group.config_of(label).num_layers
        common = set.intersection(*(set(run.final) for run in runs))
        found = sorted((int(match[1]), name) for name in common if (match := AT_STEPS.match(name)))
        points = tuple(DepthPoint(steps, summarise_runs(runs, name), steps == usual) for steps, name in found)
        lines.append(
            DepthLine(label=label, title=title_of(label), kind=group.kind_of(label), is_retrained=False, points=points)
        )
    for kind, losses in _trained_depths(group, metric).items():
        points = tuple(DepthPoint(steps, loss, True) for steps, loss in losses.items())
        title = f"{title_of(kind)}, trained at each depth"
        lines.append(DepthLine(label=kind, title=title, kind=kind, is_retrained=True, points=points))
    return [line for line in lines if len(line.points) > 1]


def _trained_depths(group: RunGroup, metric: str) -> dict[str, dict[int, Summary]]:
    """By kind: loss by number of layers, where models of a kind differ in that alone."""
    found: dict[str, dict[str, dict[int, Summary]]] = {}
    for label, summary in summarise_group(group, metric).items():
        config = group.config_of(label)
        rest = repr(config.replace(num_layers=1))
        found.setdefault(config.kind, {}).setdefault(rest, {})[config.num_layers] = summary
    best = {kind: max(families.values(), key=len) for kind, families in found.items()}
    return {kind: dict(sorted(losses.items())) for kind, losses in best.items()}
