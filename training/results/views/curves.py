"""Learning curves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tipshare.kinds import title_of
from training.results.published import published_for
from training.results.selection import Selection
from training.results.views.figure import FigureView
from training.results.views.table import Column, make_table


@dataclass(frozen=True)
class CurvePoint:
    """The loss at a training step: mean over the seeds, the lowest and the highest of them."""

    step: float
    loss: float
    lowest: float
    highest: float


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The learning curve of one model."""

    label: str
    title: str
    kind: str
    num_seeds: int
    points: tuple[CurvePoint, ...]
    is_published: bool = False


def curves_view(selection: Selection) -> FigureView[Curve]:
    """Loss along training at the steps that all seeds of a model have, averaged over neighbouring points if asked."""
    if selection.window < 1:
        raise ValueError(f"window={selection.window} must be a whole number of points, 1 or more")
    group = selection.group
    curves = []
    for label, runs in group.runs.items() if selection.source != "published" else ():
        losses = [run.curve if selection.curve == "validation" else run.train_curve for run in runs]
        points = _average([losses_by_step(each) for each in losses], selection.window)
        if points:
            kind = group.kind_of(label)
            curves.append(Curve(label=label, title=title_of(label), kind=kind, num_seeds=len(runs), points=points))
    curves += _published(selection)
    flat = [(curve, point) for curve in curves for point in curve.points]
    columns: list[Column[tuple[Curve, CurvePoint]]] = [
        Column("model", lambda each: each[0].label),
        Column("kind", lambda each: each[0].kind),
        Column("source", lambda each: "published" if each[0].is_published else "measured"),
        Column("curve", lambda each: selection.curve),
        Column("window", lambda each: selection.window),
        Column("seeds", lambda each: each[0].num_seeds),
        Column("step", lambda each: each[1].step),
        Column("loss", lambda each: each[1].loss),
        Column("lowest", lambda each: each[1].lowest),
        Column("highest", lambda each: each[1].highest),
    ]
    missing = "learning curves need runs with at least two evaluations"
    if selection.source == "published":
        missing = "nothing was published of the course of these runs"
    return FigureView(
        name="learning_curves",
        title=f"{selection.curve.capitalize()} loss along training",
        runs=group.name,
        points=tuple(curves),
        table=make_table(columns, flat),
        x_label="training step",
        y_label=f"{selection.curve} loss (nats per byte)",
        missing="" if curves else missing,
    )


def losses_by_step(curve: Iterable[Sequence[float]]) -> dict[float, float]:
    """The losses of a curve of [training step, loss] pairs."""
    return {step: loss for step, loss in curve}


def _published(selection: Selection) -> list[Curve]:
    experiment = published_for(selection.group.recipe)
    if experiment is None or selection.source == "measured" or selection.curve != "validation":
        return []
    return [
        Curve(
            label=result.kind,
            title=result.name,
            kind=result.kind,
            num_seeds=1,
            points=_average([losses_by_step(result.curve)], selection.window),
            is_published=True,
        )
        for result in experiment.results
        if result.curve and result.kind in selection.group.kinds
    ]


def _average(curves: Sequence[dict[float, float]], window: int) -> tuple[CurvePoint, ...]:
    """Mean and range over curves at the steps that all have; empty if those are fewer than two.

    Every `window` neighbouring points become their mean; a window wider than the curve is made to fit.
    """
    steps = sorted(set.intersection(*(set(each) for each in curves)))
    if len(steps) < 2:
        return ()
    losses = np.array([[each[step] for step in steps] for each in curves])
    window = min(int(window), len(steps))
    parts = (np.array(steps), losses.mean(0), losses.min(0), losses.max(0))
    averaged = [np.convolve(each, np.ones(window) / window, mode="valid").tolist() for each in parts]
    return tuple(CurvePoint(*point) for point in zip(*averaged, strict=True))
