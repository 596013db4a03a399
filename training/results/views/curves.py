"""Learning curves."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

import numpy as np

from tipshare.kinds import title_of
from training.results.published import published_for
from training.results.selection import CurveOf, Selection
from training.results.units import SIZES
from training.results.views.figure import WHO, FigureView, Mark


def curves_view(selection: Selection) -> FigureView[Mark]:
    """Loss along training at the steps that all seeds of a model have, averaged over neighbouring points if asked."""
    if selection.curve not in get_args(CurveOf):
        raise ValueError(f"curve={selection.curve!r} is not one of {', '.join(get_args(CurveOf))}")
    if selection.window < 1:
        raise ValueError(f"window={selection.window} must be a whole number of points, 1 or more")
    group, which = selection.group, selection.curve
    marks: list[Mark] = []
    lines: Counter[str] = Counter()

    def add(label: str, title: str, kind: str, curves: Sequence[Sequence[Sequence[float]]], source: str) -> None:
        for step, mean, lowest, highest in _average(curves, selection.window):
            marks.append(
                Mark(
                    label=label,
                    title=title,
                    kind=kind,
                    source=source,
                    at=step,
                    value=mean,
                    low=lowest,
                    high=highest,
                    num_seeds=len(curves),
                    # Ablations share the colour of their kind; the line tells them apart.
                    line=lines[kind],
                )
            )
        lines[kind] += 1

    for label, runs in group.runs.items() if selection.source != "published" else ():
        curves = [run.curve if which == "validation" else run.train_curve for run in runs]
        add(label, title_of(label), group.kind_of(label), curves, "measured")
    experiment = published_for(group.recipe) if selection.source != "measured" and which == "validation" else None
    for result in experiment.results if experiment else ():
        if result.curve and result.kind in group.kinds:
            curve = [(step, loss * SIZES[group.unit]) for step, loss in result.curve]
            add(result.kind, f"{result.name}, published", result.kind, [curve], "published")
    missing = "learning curves need runs with at least two evaluations"
    if selection.source == "published":
        missing = "nothing was published of the course of these runs"
    return FigureView(
        name="learning_curves",
        title=f"{which.capitalize()} loss along training",
        form="plane",
        runs=group.name,
        points=marks,
        csv=WHO | {"seeds": "num_seeds", "step": "at", "loss": "value", "lowest": "low", "highest": "high"},
        x_label="training step",
        y_label=f"{which} loss ({group.unit} per byte)",
        missing="" if marks else missing,
        is_range=True,
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
