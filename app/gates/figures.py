"""Figures of single units along depth: gates, or the weights of models without gates."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.gates.arrays import DepthViews, untrained_stretches
from app.places import NAMES
from app.plot_style import TEXT, colour_bar, diverging, dress, new_figure, plain, symbol_of, transparent
from app.shelf import Entry
from tipshare.analysis import UnitValues

ORDERS = {"as stored": "stored", "by mean value": "value", "by change along depth": "change"}
COLOURS = {"value": "value", "difference from the unit's mean": "difference"}

UNTRAINED = "rgba(128, 128, 128, 0.16)"
# What a gate can be, by the config's name of its function.
LIMITS: dict[str, tuple[float, float]] = {"sigmoid": (0.0, 1.0), "two-sigmoid": (0.0, 2.0)}

Looked = list[tuple[Entry, DepthViews]]


def order_units(values: np.ndarray, order: str) -> np.ndarray:
    """The units of {depth, unit} in the order to draw them, lowest first."""
    if order == "value":
        return np.argsort(values.mean(axis=0), kind="stable")
    if order == "change":
        return np.argsort(np.ptp(values, axis=0), kind="stable")
    if order == "stored":
        return np.arange(values.shape[1])
    raise ValueError(f"order={order!r} is not one of {', '.join(ORDERS.values())}")


def _having(looked: Looked, name: str) -> Looked:
    """Those that have a place, which one of them does."""
    return [(entry, views) for entry, views in looked if name in views.units.names]


def draw_heat_map(looked: Looked, name: str, order: str, colour: str) -> go.Figure:
    """Depth steps down, units across; one panel per model. Panels of the same kind of values share a colour scale."""
    if colour not in COLOURS.values():
        raise ValueError(f"colour={colour!r} is not one of {', '.join(COLOURS.values())}")
    panels = [(entry, views.units) for entry, views in _having(looked, name)]
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        subplot_titles=[plain(entry.label) for entry, _ in panels],
        vertical_spacing=0.3 / len(panels),
    )
    scales: dict[Scale, list[np.ndarray]] = {}
    for row, (entry, units) in enumerate(panels, start=1):
        values = units.of(name)
        places = order_units(values, order)
        shown = values - values.mean(axis=0) if colour == "difference" else values
        scale = _scale_of(entry, units, colour)
        scales.setdefault(scale, []).append(shown)
        figure.add_heatmap(
            z=shown[:, places],
            customdata=np.broadcast_to(places, shown.shape),
            x=np.arange(len(places)),
            y=[f"{t:.2f}" for t in units.t],
            coloraxis=_axis_number(list(scales).index(scale)),
            hovertemplate="unit %{customdata}, t = %{y}<br>%{z:.4f}<extra></extra>",
            row=row,
            col=1,
        )
    dress(figure, height=160 + sum(40 + 22 * min(len(units.t), 24) for _, units in panels), legend=False)
    figure.update_yaxes(autorange="reversed", type="category", title="depth t", showgrid=False)
    figure.update_xaxes(showgrid=False, showticklabels=False, ticks="")
    (in_order,) = (title for title, value in ORDERS.items() if value == order)
    figure.update_xaxes(title=f"units, {in_order}", row=len(panels), col=1)
    for number, (scale, shown) in enumerate(scales.items()):
        reach = max(1e-3, *(float(np.abs(each - scale.middle).max()) for each in shown))
        low = scale.middle - reach if scale.low is None else scale.low
        high = scale.middle + reach if scale.high is None else scale.high
        share = 1 / len(scales)
        bar = colour_bar(len=0.9 * share, x=(number + 0.5) * share, title={"text": scale.title, "side": "bottom"})
        axis = {"colorscale": diverging(low, scale.middle, high), "cmin": low, "cmax": high, "colorbar": bar}
        figure.update_layout({_axis_number(number): axis})
    figure.update_layout(margin={"b": 96})
    return figure


@dataclass(frozen=True)
class Scale:
    """What the colours of a panel mean: what is neutral, and the ends of what a value can be, if it has any."""

    title: str
    middle: float
    low: float | None = None
    high: float | None = None


def _scale_of(entry: Entry, units: UnitValues, colour: str) -> Scale:
    if colour == "difference":
        return Scale("difference from the unit's mean", 0.0)
    if not units.are_gates:
        return Scale("norm, relative to its mean along depth", units.unchanged)
    low, high = LIMITS.get(entry.config.gate, (None, None))
    return Scale("gate", units.unchanged, low, high)


def _axis_number(number: int) -> str:
    return f"coloraxis{number + 1 if number else ''}"


def draw_curves(looked: Looked, name: str) -> go.Figure:
    """Mean and middle 80 % of the units over continuous t, with marks at the model's depth steps.

    Stretches of t that training did not cover are shaded; of two models, where it is so for both.
    """
    looked = _having(looked, name)
    figure = new_figure(320)
    for place, (entry, views) in enumerate(looked):
        values, dots = views.curve.of(name), views.units.of(name)
        low, high = np.percentile(values, [10, 90], axis=1)
        depth = views.curve.t
        figure.add_scatter(
            x=np.concatenate([depth, depth[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            mode="lines",
            fill="toself",
            fillcolor=transparent(entry.colour, 0.18),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
        line = {"color": entry.colour, "width": 2, "dash": ("dash" if place else "solid") if views.is_curve else "dot"}
        figure.add_scatter(
            x=depth,
            y=values.mean(axis=1),
            mode="lines",
            line=line,
            name=plain(entry.label),
            hovertemplate="t = %{x:.2f}, mean %{y:.3f}<extra></extra>",
        )
        figure.add_scatter(
            x=views.units.t,
            y=dots.mean(axis=1),
            mode="markers",
            marker={"color": entry.colour, "size": 9, "symbol": symbol_of(entry.kind)},
            name="" if place else "depth steps",
            showlegend=not place,
            hovertemplate="depth step at t = %{x:.2f}, mean %{y:.3f}<extra></extra>",
        )
    _shade(figure, [entry for entry, _ in looked])
    units = looked[0][1].units
    meaning = "before training" if units.are_gates else "mean along depth"
    figure.add_hline(
        units.unchanged,
        line={"dash": "dot", "width": 1, "color": TEXT},
        annotation={"text": f"{meaning}: {units.unchanged:.2f}", "font": {"size": 11}, "xanchor": "right"},
    )
    figure.update_xaxes(title="depth t", range=[0, 1.03])
    figure.update_yaxes(title=_axis_name(views.units for _, views in looked))
    return figure


def _shade(figure: go.Figure, entries: list[Entry]) -> None:
    """The stretches of t that no training covered, with a legend."""
    edges = np.array([0.0, 1.0])
    stretches = [untrained_stretches(entry) for entry in entries]
    edges = np.unique(np.concatenate([edges, *(np.ravel(each) for each in stretches)]))
    shaded = [
        (float(low), float(high))
        for low, high in itertools.pairwise(edges)
        if all(any(start <= low and high <= end for start, end in each) for each in stretches)
    ]
    for low, high in shaded:
        figure.add_vrect(low, high, fillcolor=UNTRAINED, line={"width": 0}, layer="below")
    if shaded:
        square = {"symbol": "square", "size": 12, "color": UNTRAINED}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=square, name="not covered by training")


def draw_distributions(looked: Looked, name: str) -> go.Figure:
    """How the units are spread at every depth step."""
    looked = _having(looked, name)
    figure = new_figure(320)
    for entry, views in looked:
        values = views.units.of(name)
        figure.add_violin(
            x=np.repeat([f"{t:.2f}" for t in views.units.t], values.shape[1]),
            y=values.ravel(),
            name=plain(entry.label),
            line={"color": entry.colour, "width": 1.2},
            fillcolor=transparent(entry.colour, 0.25),
            box={"visible": True, "width": 0.25},
            points=False,
            spanmode="hard",
            hoverinfo="y",
        )
    figure.update_layout(violinmode="group", violingap=0.15)
    figure.update_xaxes(title="depth t", type="category", showgrid=False)
    figure.update_yaxes(title=_axis_name(views.units for _, views in looked))
    return figure


def draw_at_depth(at: list[tuple[Entry, UnitValues]]) -> go.Figure:
    """All places at one depth t: how the units are spread."""
    places = [name for name in NAMES if any(name in units.names for _, units in at)]
    figure = new_figure(96 + 44 * len(places))
    sides = ("positive", "negative") if len(at) > 1 else ("positive",)
    for (entry, units), side in zip(at, sides, strict=True):
        for place, name in enumerate(units.names):
            values = units.of(name)[0]
            figure.add_violin(
                x=values,
                y=[NAMES[name]] * len(values),
                orientation="h",
                side=side,
                width=1.6 if len(at) == 1 else 0.9,
                name=plain(entry.label),
                legendgroup=f"{entry.name} {side}",
                showlegend=place == 0,
                line={"color": entry.colour, "width": 1.2},
                fillcolor=transparent(entry.colour, 0.3),
                points=False,
                meanline={"visible": True},
                spanmode="hard",
                hoverinfo="x+y",
            )
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=[NAMES[name] for name in reversed(places)]
    )
    figure.update_xaxes(title=_axis_name(units for _, units in at))
    return figure


def _axis_name(shown: Iterable[UnitValues]) -> str:
    names = dict.fromkeys("gate" if units.are_gates else "relative norm" for units in shown)
    return " or ".join(names)
