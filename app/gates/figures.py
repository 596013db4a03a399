"""Figures of single units along depth: gates, or the weights of models without gates."""

from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.gates.arrays import NAMES, DepthViews
from app.plot_style import DIVERGING, SYMBOLS, TEXT, colour_bar, dress, new_figure, plain, transparent, words_figure
from app.shelf import Entry
from tipshare.analysis import UnitValues
from tipshare.kinds import mark_of

ORDERS = {"as stored": "stored", "by mean value": "value", "by change along depth": "change"}
COLOURS = {"value": "value", "difference from the unit's mean": "difference"}

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


def draw_heat_map(looked: Looked, name: str, order: str = "value", colour: str = "value") -> go.Figure:
    """Depth steps down, units across; one panel per model, on one colour scale."""
    if colour not in COLOURS.values():
        raise ValueError(f"colour={colour!r} is not one of {', '.join(COLOURS.values())}")
    panels = [(entry, views.units) for entry, views in looked if name in views.units.names]
    if not panels:
        return words_figure(f"None of the chosen models has {NAMES.get(name, name)}.")
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        subplot_titles=[plain(entry.label) for entry, _ in panels],
        vertical_spacing=0.3 / len(panels),
    )
    reach, middle = 0.0, 0.0 if colour == "difference" else panels[0][1].unchanged
    for row, (_, units) in enumerate(panels, start=1):
        values = units.of(name)
        places = order_units(values, order)
        shown = values - values.mean(axis=0) if colour == "difference" else values
        reach = max(reach, float(np.abs(shown - middle).max()))
        figure.add_heatmap(
            z=shown[:, places],
            customdata=np.broadcast_to(places, shown.shape),
            x=np.arange(len(places)),
            y=[f"{t:.2f}" for t in units.t],
            coloraxis="coloraxis",
            hovertemplate="unit %{customdata}, t = %{y}<br>%{z:.4f}<extra></extra>",
            row=row,
            col=1,
        )
    dress(figure, height=110 + sum(40 + 22 * min(len(units.t), 24) for _, units in panels), legend=False)
    figure.update_yaxes(autorange="reversed", type="category", title="depth t", showgrid=False)
    figure.update_xaxes(showgrid=False, showticklabels=False, ticks="")
    figure.update_xaxes(title=_axis_of(order), row=len(panels), col=1)
    reach = max(reach, 1e-3)
    figure.update_layout(
        coloraxis={
            "colorscale": DIVERGING,
            "cmin": middle - reach,
            "cmax": middle + reach,
            "colorbar": colour_bar(),
        },
        margin={"b": 74},
    )
    return figure


def draw_curves(looked: Looked, name: str, t: float | None = None) -> go.Figure:
    """Mean and middle 80 % of the units over continuous t, with marks at the depths of training."""
    figure = new_figure(320)
    lines = ("solid", "dash")
    drawn = 0
    for entry, views in looked:
        if name not in views.units.names:
            continue
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
        line = {"color": entry.colour, "width": 2, "dash": lines[drawn % 2] if views.is_curve else "dot"}
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
            marker={"color": entry.colour, "size": 9, "symbol": _symbol(entry)},
            name="depths of training" if drawn == 0 else "",
            showlegend=drawn == 0,
            hovertemplate="depth step at t = %{x:.2f}, mean %{y:.3f}<extra></extra>",
        )
        drawn += 1
    if not drawn:
        return words_figure(f"None of the chosen models has {NAMES.get(name, name)}.")
    units = looked[0][1].units
    meaning = "before training" if units.are_gates else "mean along depth"
    figure.add_hline(
        units.unchanged,
        line={"dash": "dot", "width": 1, "color": TEXT},
        annotation={"text": f"{meaning}: {units.unchanged:.2f}", "font": {"size": 11}, "xanchor": "right"},
    )
    if t is not None:
        figure.add_vline(t, line={"width": 1, "color": TEXT})
    figure.update_xaxes(title="depth t", range=[0, 1.03])
    figure.update_yaxes(title=_axis_name(views.units for _, views in looked))
    return figure


def draw_distributions(looked: Looked, name: str) -> go.Figure:
    """How the units are spread at every depth step."""
    figure = new_figure(320)
    for entry, views in looked:
        if name not in views.units.names:
            continue
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
    if not figure.data:
        return words_figure(f"None of the chosen models has {NAMES.get(name, name)}.")
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
    names = dict.fromkeys("gate" if units.are_gates else "relative length" for units in shown)
    return " or ".join(names)


def _axis_of(order: str) -> str:
    return {"stored": "units, as stored", "value": "units, by mean value", "change": "units, by change along depth"}[
        order
    ]


def _symbol(entry: Entry) -> str:
    return SYMBOLS[mark_of(entry.kind)]
