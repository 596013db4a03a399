"""Figures of the Dynamics tab."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.dynamics.arrays import WeightViews
from app.plot_style import SEQUENTIAL, TEXT, colour_bar, dress, new_figure, plain, symbol_of, variants_of, words_figure
from app.shelf import Entry
from tipshare.analysis import Lens, Spectrum, StreamChange
from tipshare.analysis.inspection import byte_name

Looked = list[tuple[Entry, WeightViews]]
COLUMNS = 2
NOT_THERE = "None of the models has this product of weights."
CIRCLE = np.exp(1j * np.linspace(0, 2 * np.pi, 73))


def draw_eigenvalues(found: list[tuple[Entry, Spectrum]]) -> go.Figure:
    """One small complex plane per model, with the unit circle, which tells its scale."""
    if not found:
        return words_figure(NOT_THERE)
    columns = min(COLUMNS, len(found))
    rows = math.ceil(len(found) / columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[f"{plain(entry.label)}<br>t = {each.t[0]:.2f}" for entry, each in found],
        horizontal_spacing=0.06,
        vertical_spacing=0.24 / rows,
    )
    for place, (entry, each) in enumerate(found):
        row, column = place // columns + 1, place % columns + 1
        values = each.eigenvalues.ravel()
        figure.add_scatter(
            x=np.real(CIRCLE),
            y=np.imag(CIRCLE),
            mode="lines",
            line={"color": TEXT, "width": 1, "dash": "dot"},
            hoverinfo="skip",
            row=row,
            col=column,
        )
        figure.add_scatter(
            x=np.real(values),
            y=np.imag(values),
            mode="markers",
            marker={"color": entry.colour, "size": 5, "opacity": 0.6, "symbol": symbol_of(entry.kind)},
            name=plain(entry.label),
            hovertemplate="%{x:.3f} + %{y:.3f} i<extra></extra>",
            row=row,
            col=column,
        )
        # A circle is round: both axes are as long and have one unit.
        reach = 1.08 * max(1.0, float(np.abs(values).max()))
        same: dict[str, Any] = {"range": [-reach, reach], "constrain": "domain", "row": row, "col": column}
        figure.update_xaxes(**same)
        figure.update_yaxes(**same, constraintoward="top", scaleanchor=f"x{place + 1 if place else ''}")
    # As high as `tab.css` says, since the planes are smaller on a phone; titles in two lines have room there.
    dress(figure, height=None, legend=False)
    figure.update_layout(margin={"t": 44})
    figure.update_annotations(font={"size": 11})
    figure.update_xaxes(zeroline=True, zerolinecolor=TEXT, zerolinewidth=0.5)
    figure.update_yaxes(zeroline=True, zerolinecolor=TEXT, zerolinewidth=0.5)
    figure.update_xaxes(title="real part", row=rows)
    figure.update_yaxes(title="imaginary part", col=1)
    return figure


def draw_magnitudes(looked: Looked, name: str) -> go.Figure:
    """The mean magnitude of the eigenvalues at every depth step, and the largest, of models with this product."""
    if not looked:
        return words_figure(NOT_THERE)
    figure = new_figure(330)
    for (entry, views), variant in zip(looked, variants_of(entry.kind for entry, _ in looked), strict=True):
        found = views.spectra[name]
        for values, dash, what in (
            (found.magnitude.mean(axis=1), "solid", "mean"),
            (found.radius.max(axis=1), "dot", "largest"),
        ):
            figure.add_scatter(
                x=found.t,
                y=values,
                mode="lines+markers",
                name=plain(entry.label),
                legendgroup=entry.name,
                showlegend=what == "mean",
                line={"color": entry.colour, "width": 2 if what == "mean" else 1, "dash": dash},
                marker={"size": 8 if what == "mean" else 5, "symbol": symbol_of(entry.kind, variant)},
                hovertemplate=f"t = %{{x:.2f}}: {what} %{{y:.3f}}<extra></extra>",
            )
    figure.update_xaxes(title="depth t", range=[0, 1.05])
    figure.update_yaxes(title="magnitude, mean and (dotted) largest", type="log")
    return figure


def draw_lens(lens: Lens, shown: str) -> go.Figure:
    """Depths down, bytes across; the five likeliest next bytes on hover."""
    values = {"divergence": lens.divergences, "entropy": lens.entropies, "loss": lens.losses}[shown]
    units = {"divergence": "nats", "entropy": "bits", "loss": "nats"}[shown]
    names = [byte_name(int(each)) for each in lens.ids]
    best = np.empty(values.shape, dtype=object)
    for at in np.ndindex(values.shape):
        pairs = zip(lens.bytes[at], lens.probabilities[at], strict=True)
        best[at] = "<br>".join(f"{plain(byte_name(int(byte)))} {share:.1%}" for byte, share in pairs)
    figure = new_figure(150 + 34 * len(lens.t), legend=False)
    figure.add_heatmap(
        # Plotly's JSON has no NaN: a gap says that nothing is known there.
        z=[[value if np.isfinite(value) else None for value in row] for row in values.tolist()],
        x=np.arange(len(names)),
        y=[f"{t:.2f}" for t in lens.t],
        customdata=best,
        text=np.broadcast_to([plain(each) for each in names], values.shape),
        colorscale=SEQUENTIAL,
        colorbar=colour_bar(title={"text": f"{shown}, {units}", "side": "bottom"}),
        hovertemplate="after %{text}, stopped at t = %{y}<br>%{z:.3f} " + units + "<br>%{customdata}<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed", type="category", title="stopped at t", showgrid=False)
    marks = [plain(each.strip("\u201c\u201d")) if len(each) == 3 else "" for each in names]
    figure.update_xaxes(tickmode="array", tickvals=np.arange(len(names)), ticktext=marks, showgrid=False, tickangle=0)
    figure.update_layout(margin={"b": 90})
    return figure


def draw_updates(entry: Entry, stream: StreamChange) -> go.Figure:
    """Size of every update relative to the stream, and the angle to the next one: mean and middle 80 % of bytes."""
    titles = ["size of the update / norm of the stream", "degrees to the next update"]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.14, subplot_titles=titles)
    for row, (t, values) in enumerate(
        ((stream.t[1:], stream.update_sizes), (stream.t[1:-1], stream.update_angles)), start=1
    ):
        if not len(values):
            continue
        low, high = np.percentile(values, [10, 90], axis=1)
        mean = values.mean(axis=1)
        figure.add_scatter(
            x=t,
            y=mean,
            error_y={"type": "data", "symmetric": False, "array": high - mean, "arrayminus": mean - low, "width": 3},
            mode="lines+markers",
            line={"color": entry.colour, "width": 2},
            marker={"size": 8, "symbol": symbol_of(entry.kind)},
            hovertemplate="t = %{x:.2f}: %{y:.3f}<extra></extra>",
            row=row,
            col=1,
        )
    dress(figure, height=400, legend=False)
    figure.update_xaxes(range=[0, 1.05])
    figure.update_xaxes(title="depth t", row=2, col=1)
    figure.update_yaxes(rangemode="tozero")
    return figure


def draw_alignment(stream: StreamChange) -> go.Figure:
    """CKA between the streams of all pairs of depths."""
    ticks = [f"{t:.2f}" for t in stream.t]
    figure = new_figure(400, legend=False)
    figure.add_heatmap(
        z=stream.alignment,
        x=ticks,
        y=ticks,
        zmin=0,
        zmax=1,
        colorscale=SEQUENTIAL,
        colorbar=colour_bar(),
        hovertemplate="t = %{y} and t = %{x}<br>CKA %{z:.3f}<extra></extra>",
    )
    figure.update_xaxes(type="category", showgrid=False, title="depth t (0: the embedding)")
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed", title="depth t")
    figure.update_layout(margin={"b": 96})
    return figure
