"""The figures of a run as it goes on, with the run before it dashed."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.places import NAMES
from app.plot_style import TEXT, new_figure, plain, symbol_of, transparent, words_figure
from app.train.session import Snapshot
from tipshare.kinds import colour_of, title_of

HEIGHT = 320
# Okabe and Ito's colours for places that gates act on; where they repeat, the line is dotted.
PLACES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9")
# Points of the running mean that is drawn over the training loss.
SMOOTHED = 9
NOT_YET = "Drawn at the first evaluation."
FIXED = "This model has a block for every layer: it runs at the depth that it was trained at, and at no other."


def draw_losses(now: Snapshot | None, before: Snapshot | None) -> go.Figure:
    """Training and validation loss by step."""
    if now is None or not now.losses:
        return words_figure("Grows with every training step.", height=HEIGHT)
    figure = new_figure(HEIGHT)
    colour = colour_of(now.request.kind)
    if before is not None:
        steps, values = zip(*before.curve, strict=True)
        _line(figure, steps, values, f"before: {_name(before)}", colour_of(before.request.kind), "dash", before)
    steps, values = zip(*now.losses, strict=True)
    weights = np.ones(min(SMOOTHED, len(values)))
    # At both ends fewer steps are averaged.
    smooth = np.convolve(values, weights, "same") / np.convolve(np.ones(len(values)), weights, "same")
    figure.add_scatter(
        x=steps,
        y=smooth,
        mode="lines",
        line={"color": transparent(colour, 0.45), "width": 1.5},
        name="training, smoothed",
        hovertemplate="step %{x}: %{y:.3f}<extra>training</extra>",
    )
    if now.curve:
        steps, values = zip(*now.curve, strict=True)
        _line(figure, steps, values, f"validation: {_name(now)}", colour, "solid", now)
    figure.update_xaxes(title_text="training step", range=[0, max(now.request.steps, before.step if before else 0)])
    figure.update_yaxes(title_text="loss, nats per byte")
    return figure


def draw_depths(now: Snapshot | None, before: Snapshot | None) -> go.Figure:
    """Validation loss by number of depth steps; earlier evaluations are faint."""
    if now is not None and not now.request.config.is_continuous:
        return words_figure(FIXED, height=HEIGHT)
    if now is None or not now.depths:
        return words_figure(NOT_YET, height=HEIGHT)
    figure = new_figure(HEIGHT)
    colour = colour_of(now.request.kind)
    if before is not None and before.depths:
        losses = before.depths[-1][1]
        name = f"before: {_name(before)}"
        _line(figure, [*losses], [*losses.values()], name, colour_of(before.request.kind), "dash", before)
    for number, (step, losses) in enumerate(now.depths, start=1):
        newest = number == len(now.depths)
        shade = colour if newest else transparent(colour, 0.15 + 0.35 * number / len(now.depths))
        _line(figure, [*losses], [*losses.values()], f"step {step:,}", shade, "solid", now, legend=newest)
    ticks = sorted({steps for _, losses in now.depths for steps in losses})
    figure.update_xaxes(title_text="depth steps", tickvals=ticks)
    figure.update_yaxes(title_text="loss, nats per byte")
    return figure


def draw_units(now: Snapshot | None) -> go.Figure:
    """The mean gate of every place over t, or of weights' norms where there are no gates."""
    if now is None or now.units is None:
        return words_figure(NOT_YET, height=HEIGHT)
    figure, units = new_figure(HEIGHT), now.units
    for number, (name, means) in enumerate(units.means.items()):
        line: dict[str, Any] = {"color": PLACES[number % len(PLACES)], "width": 2}
        line["dash"] = "solid" if number < len(PLACES) else "dot"
        figure.add_scatter(
            x=units.t,
            y=means,
            mode="lines+markers" if len(units.t) <= 12 else "lines",
            line=line,
            name=plain(NAMES.get(name, name)),
            hovertemplate="t = %{x:.2f}: %{y:.3f}",
        )
    said = "gates begin here" if units.are_gates else "mean along depth"
    figure.add_hline(units.unchanged, line={"color": TEXT, "width": 1, "dash": "dot"}, annotation_text=said)
    figure.update_xaxes(title_text="depth t", range=[0, 1.02])
    figure.update_yaxes(title_text="mean gate" if units.are_gates else "norm of weights, relative")
    return figure


def _line(
    figure: go.Figure, x: Any, y: Any, name: str, colour: str, dash: str, run: Snapshot, *, legend: bool = True
) -> None:
    hollow = dash != "solid"
    figure.add_scatter(
        x=list(x),
        y=list(y),
        mode="lines+markers",
        line={"color": colour, "width": 2, "dash": dash},
        marker={"symbol": symbol_of(run.request.kind, hollow=hollow), "size": 7},
        name=plain(name),
        showlegend=legend,
        hovertemplate="%{x}: %{y:.3f}<extra>" + plain(name) + "</extra>",
    )


def _name(run: Snapshot) -> str:
    return title_of(run.request.label)
