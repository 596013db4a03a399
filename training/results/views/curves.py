"""Learning curves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tipshare.kinds import title_of
from training.results.published import published_for
from training.results.selection import Selection
from training.results.views.figure import FigureView
from training.results.views.losses import WHO
from training.results.views.table import named


@dataclass(frozen=True)
class CurvePoint:
    """A model's loss at a training step: mean over its seeds, the lowest and the highest of them."""

    label: str
    title: str
    kind: str
    source: str
    num_seeds: int
    step: float
    loss: float
    lowest: float
    highest: float


def curves_view(selection: Selection) -> FigureView[CurvePoint]:
    """Loss along training at the steps that all seeds of a model have, averaged over neighbouring points if asked."""
    if selection.window < 1:
        raise ValueError(f"window={selection.window} must be a whole number of points, 1 or more")
    group, which = selection.group, selection.curve
    points: list[CurvePoint] = []
    for label, runs in group.runs.items() if selection.source != "published" else ():
        curves = [run.curve if which == "validation" else run.train_curve for run in runs]
        who = (label, title_of(label), group.kind_of(label), "measured", len(runs))
        points += [CurvePoint(*who, *each) for each in _average(curves, selection.window)]
    experiment = published_for(group.recipe) if selection.source != "measured" and which == "validation" else None
    for result in experiment.results if experiment else ():
        if result.curve and result.kind in group.kinds:
            who = (result.kind, f"{result.name}, published", result.kind, "published", 1)
            points += [CurvePoint(*who, *each) for each in _average([result.curve], selection.window)]
    missing = "learning curves need runs with at least two evaluations"
    if selection.source == "published":
        missing = "nothing was published of the course of these runs"
    return FigureView(
        "learning_curves",
        f"{which.capitalize()} loss along training",
        group.name,
        points,
        {**WHO, "seeds": "num_seeds", **named("step", "loss", "lowest", "highest")},
        "training step",
        f"{which} loss (nats per byte)",
        missing="" if points else missing,
    )


def _average(curves: Sequence[Sequence[Sequence[float]]], window: int) -> list[tuple[float, ...]]:
    """Step, mean, lowest and highest loss at the steps that all curves have; empty if those are fewer than two.

    Every `window` neighbouring points become their mean; a window wider than the curve is made to fit.
    """
    losses = [{step: loss for step, loss in curve} for curve in curves]
    steps = sorted(set.intersection(*(set(each) for each in losses)))
    if len(steps) < 2:
        return []
    table = np.array([[each[step] for step in steps] for each in losses])
    window = min(int(window), len(steps))
    parts = (np.array(steps), table.mean(0), table.min(0), table.max(0))
    return list(zip(*(np.convolve(each, np.ones(window) / window, "valid").tolist() for each in parts), strict=True))
