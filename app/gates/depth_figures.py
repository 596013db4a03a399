"""Figures of whole weights and hidden states along depth."""

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.gates.figures import Looked
from app.gates.words import byte_label
from app.places import NAMES
from app.plot_style import (
    MONO_FAMILY,
    SEQUENTIAL,
    colour_bar,
    dress,
    new_figure,
    plain,
    symbol_of,
    variants_of,
    words_figure,
)
from app.shelf import Entry
from tipshare.analysis import HiddenPath

# Numbers are written into the cells of a matrix of at most so many depth steps.
MOST_NUMBERS = 8
COLUMNS = 2
# The end of the logarithmic scale of 1 - cosine; what is less is rounding.
LEAST_APART = 1e-4


def draw_similarity(looked: Looked, name: str | None) -> go.Figure:
    """One small matrix per model: 1 - cosine of the effective weights between depth steps, on a logarithmic scale."""
    panels = [(entry, views.products) for entry, views in looked if name is None or name in views.products.names]
    if not panels:
        return words_figure(f"None of the models has {NAMES.get(name or '', name or '')}.")
    columns = min(COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[plain(entry.label) for entry, _ in panels],
        horizontal_spacing=0.05,
        vertical_spacing=0.3 / rows,
    )
    for place, (_, products) in enumerate(panels):
        row, column = place // columns + 1, place % columns + 1
        ticks = [f"{t:.2f}" for t in products.t]
        apart = 1.0 - products.similarity(name)
        figure.add_heatmap(
            z=np.log10(np.maximum(apart, LEAST_APART)),
            customdata=apart,
            text=[[_short(each) for each in line] for line in apart],
            x=ticks,
            y=ticks,
            coloraxis="coloraxis",
            texttemplate="%{text}" if len(ticks) <= MOST_NUMBERS else None,
            hovertemplate="t = %{y} and t = %{x}<br>1 - cosine = %{customdata:.2e}<extra></extra>",
            row=row,
            col=column,
        )
    dress(figure, height=_height(len(panels)), legend=False)
    figure.update_xaxes(type="category", showgrid=False, tickangle=-90, tickfont={"size": 10})
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed", tickfont={"size": 10})
    for column in range(2, columns + 1):
        figure.update_yaxes(showticklabels=False, col=column)
    figure.update_layout(
        coloraxis={
            "colorscale": SEQUENTIAL,
            "cmin": math.log10(LEAST_APART),
            "cmax": 0,
            "colorbar": colour_bar(
                tickvals=[-4, -3, -2, -1, 0], ticktext=["0.0001 or less", "0.001", "0.01", "0.1", "1 or more"]
            ),
        },
        margin={"b": 80},
    )
    return figure


def draw_norms(looked: Looked, name: str | None) -> go.Figure:
    """The norm of the effective weights at every depth step, of all models."""
    figure = new_figure(_height(len(looked)))
    looked = [(entry, views) for entry, views in looked if name is None or name in views.products.names]
    for (entry, views), variant in zip(looked, variants_of(entry.kind for entry, _ in looked), strict=True):
        figure.add_scatter(
            x=views.products.t,
            y=views.products.norms(name),
            mode="lines+markers",
            name=plain(entry.label),
            line={"color": entry.colour, "width": 2},
            marker={"size": 8, "symbol": symbol_of(entry.kind, variant)},
            hovertemplate="t = %{x:.2f}, norm %{y:.2f}<extra></extra>",
        )
    if not figure.data:
        return words_figure(f"None of the models has {NAMES.get(name or '', name or '')}.")
    figure.update_xaxes(title="depth t", range=[0, 1.05])
    figure.update_yaxes(title="norm of the weights", rangemode="tozero")
    return figure


def _height(panels: int) -> int:
    """Of the small multiples, and of what stands beside them."""
    return 120 + 220 * math.ceil(panels / COLUMNS)


def _short(apart: float) -> str:
    """Up to three digits without a leading zero, as correlation tables have them: narrow cells."""
    if apart < LEAST_APART:
        return "0"
    if apart < 0.0005:
        return "&lt;.001"
    return f"{apart:.1f}" if apart >= 0.995 else f"{apart:.{2 if apart >= 0.0995 else 3}f}".removeprefix("0")


def draw_path(paths: list[tuple[Entry, HiddenPath]]) -> go.Figure:
    """The norm of the hidden state along depth, and how far every depth step moves it."""
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.12, subplot_titles=["norm", "size of the step"]
    )
    for place, (entry, path) in enumerate(paths):
        line = {"color": entry.colour, "width": 2, "dash": "solid" if place == 0 else "dash"}
        marker = {"size": 8, "symbol": symbol_of(entry.kind), "color": entry.colour}
        for row, (t, values) in enumerate(((path.t, path.norms), (path.t[1:], path.step_sizes)), start=1):
            figure.add_scatter(
                x=t,
                y=values,
                mode="lines+markers",
                name=plain(entry.label),
                legendgroup=str(place),
                showlegend=row == 1 and len(paths) > 1,
                line=line,
                marker=marker,
                hovertemplate="t = %{x:.2f}: %{y:.2f}<extra></extra>",
                row=row,
                col=1,
            )
    dress(figure, height=400)
    figure.update_layout(legend={"y": 1.1})
    figure.update_xaxes(range=[-0.03, 1.03])
    figure.update_xaxes(title="depth t (0: the embedding)", row=2, col=1)
    figure.update_yaxes(rangemode="tozero")
    return figure


def draw_predictions(paths: list[tuple[Entry, HiddenPath]]) -> go.Figure:
    """The five most probable next bytes if the model stopped at each depth, one panel per model."""
    figure = make_subplots(
        rows=len(paths),
        cols=1,
        subplot_titles=[plain(entry.label) for entry, _ in paths],
        vertical_spacing=0.2 / len(paths),
    )
    for row, (_, path) in enumerate(paths, start=1):
        labels = np.vectorize(lambda byte: plain(byte_label(byte)), otypes=[object])(path.bytes)
        figure.add_heatmap(
            z=path.probabilities,
            text=labels,
            x=[1, 2, 3, 4, 5],
            y=[f"{t:.2f}" for t in path.t],
            coloraxis="coloraxis",
            texttemplate="%{text}<br>%{z:.0%}",
            textfont={"family": MONO_FAMILY, "size": 11},
            hovertemplate="stopped at t = %{y}: %{text} with %{z:.1%}<extra></extra>",
            xgap=2,
            ygap=2,
            row=row,
            col=1,
        )
    dress(figure, height=40 + sum(72 + 38 * len(path.t) for _, path in paths), legend=False)
    figure.update_yaxes(autorange="reversed", type="category", title="stopped at t", showgrid=False)
    figure.update_xaxes(type="category", showgrid=False, showticklabels=False)
    figure.update_xaxes(title="most probable next byte, best first", showticklabels=True, row=len(paths), col=1)
    figure.update_layout(coloraxis={"colorscale": SEQUENTIAL, "cmin": 0, "cmax": 1, "showscale": False})
    return figure
