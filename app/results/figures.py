"""The figures of the Results tab: views drawn with plotly."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.plot_style import CLEAR, new_figure, plain, symbol_of, transparent, words_figure
from app.results.comparison_figures import draw_ablation_grid, draw_depth_steps, draw_significance
from tipshare.kinds import colour_of
from training.results.formatting import count_in_words, show_mean
from training.results.rows import ResultRow
from training.results.views.curves import CurvePoint
from training.results.views.figure import FigureView, by_title
from training.results.views.losses import Mark

# Figures side by side are equally high.
LEAST_HEIGHT = 380
DASHES = ("solid", "dash", "dashdot", "dot", "longdash")


def draw(view: FigureView[Any]) -> go.Figure:
    """A figure, or in words why there is none."""
    if view.missing:
        return words_figure(view.missing[0].upper() + view.missing[1:] + ".")
    return _DRAWINGS[view.name](view)


def draw_loss(view: FigureView[Mark]) -> go.Figure:
    """Every model's mean with its interval, and its seeds as small dots."""
    rows = [mark.row for mark in view.points if mark.seed is None]
    figure = new_figure(max(LEAST_HEIGHT, 96 + 52 * len(rows)), legend=False)
    for place, row in enumerate(rows):
        seeds = [mark for mark in view.points if mark.row is row and mark.seed is not None]
        if seeds:
            figure.add_scatter(
                x=[mark.loss for mark in seeds],
                y=[place + 0.22] * len(seeds),
                mode="markers",
                marker={**_marker(row, size=6), "opacity": 0.6},
                customdata=[mark.seed for mark in seeds],
                hovertemplate="seed %{customdata}: %{x:.4f}<extra></extra>",
            )
        figure.add_scatter(
            x=[row.loss.mean],
            y=[place],
            mode="markers",
            marker=_marker(row, size=12),
            error_x=_reach(row),
            hovertemplate=f"{plain(row.name)}: {show_mean(row.loss)}<extra></extra>",
        )
    _list_models(figure, [_tick(row) for row in rows])
    values = [value for mark in view.points for value in (mark.loss, mark.low, mark.high) if value is not None]
    room = (max(values) - min(values)) * 0.08 + 0.01
    low, high = min(values) - room, max(values) + room
    figure.update_xaxes(title=view.x_label, range=[low, high])
    for place, row in enumerate(rows):
        # Towards the middle near either end, so that narrow screens cut nothing off.
        share = (row.loss.mean - low) / (high - low)
        figure.add_annotation(
            x=row.loss.mean,
            y=place,
            text=show_mean(row.loss),
            showarrow=False,
            xanchor="left" if share < 0.3 else "right" if share > 0.7 else "center",
            yshift=17,
            font={"size": 11},
        )
    return figure


def draw_parameters(view: FigureView[ResultRow]) -> go.Figure:
    """Loss against stored parameters, on a logarithmic axis."""
    figure = new_figure(max(LEAST_HEIGHT, 96 + 52 * len(view.points)))
    for row in view.points:
        figure.add_scatter(
            x=[row.parameters],
            y=[row.loss.mean],
            mode="markers",
            marker=_marker(row, size=13),
            error_y=_reach(row),
            name=plain(row.name),
            hovertemplate=f"{count_in_words(row.parameters or 0)} parameters: {show_mean(row.loss)}<extra></extra>",
        )
    counts = [row.parameters or 1 for row in view.points]
    low, high = np.log10(min(counts)) - 0.2, np.log10(max(counts)) + 0.2
    ticks = [size * 10**power for power in range(3, 10) for size in (1, 2, 5)]
    # Few marks on a wide range, more on a narrow one.
    ticks = [each for each in ticks if low <= np.log10(each) <= high and (high - low < 2.4 or str(each)[0] == "1")]
    figure.update_xaxes(
        title=view.x_label,
        type="log",
        range=[low, high],
        tickvals=ticks,
        ticktext=[count_in_words(each) for each in ticks],
    )
    figure.update_yaxes(title=view.y_label)
    return figure


def draw_step_time(view: FigureView[ResultRow]) -> go.Figure:
    """Milliseconds per training step, the rows of a device under its name."""
    ticks: list[str] = []
    figure = new_figure(LEAST_HEIGHT, legend=False)
    for row, before in zip(view.points, (None, *view.points), strict=False):
        if before is None or before.device != row.device:
            name = f"<b>{plain(row.device)}</b>"
            figure.add_annotation(x=0, y=len(ticks), text=name, showarrow=False, xanchor="left", font={"size": 11})
            ticks.append("")
        figure.add_bar(
            x=[row.step_ms],
            y=[len(ticks)],
            orientation="h",
            width=0.5,
            marker={
                "color": CLEAR if row.is_published else colour_of(row.kind),
                "line": {"color": colour_of(row.kind), "width": 2},
            },
            text=f"{row.step_ms:.1f} ms",
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"{plain(row.name)}, {plain(row.device)}: %{{x:.1f}} ms<extra></extra>",
        )
        ticks.append(_tick(row))
    _list_models(figure, ticks)
    figure.update_layout(height=max(LEAST_HEIGHT, 96 + 40 * len(ticks)))
    figure.update_xaxes(title=view.x_label, range=[0, max(row.step_ms or 0 for row in view.points) * 1.35])
    return figure


def draw_learning_curves(view: FigureView[CurvePoint]) -> go.Figure:
    """Loss along training: the mean over seeds, and the range of the seeds."""
    figure = new_figure(LEAST_HEIGHT)
    drawn: Counter[str] = Counter()
    for title, curve in by_title(view.points).items():
        kind, is_published = curve[0].kind, curve[0].source == "published"
        steps = [each.step for each in curve]
        if curve[0].num_seeds > 1:
            figure.add_scatter(
                x=[*steps, *reversed(steps)],
                y=[*(each.highest for each in curve), *(each.lowest for each in reversed(curve))],
                mode="lines",
                fill="toself",
                fillcolor=transparent(colour_of(kind), 0.16),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        # Ablations share the colour of their kind; the line tells them apart.
        dash = "dot" if is_published else DASHES[drawn[kind] % len(DASHES)]
        drawn[kind] += not is_published
        figure.add_scatter(
            x=steps,
            y=[each.loss for each in curve],
            mode="lines+markers" if len(steps) <= 30 else "lines",
            line={"color": colour_of(kind), "width": 1.2 if is_published else 2, "dash": dash},
            marker={"size": 8 if is_published else 6, "symbol": symbol_of(kind, hollow=is_published)},
            name=plain(title),
            hovertemplate="step %{x:.0f}: %{y:.3f}<extra></extra>",
        )
    figure.update_xaxes(title=view.x_label, rangemode="tozero")
    figure.update_yaxes(title=view.y_label)
    return figure


def _marker(row: ResultRow, *, size: int) -> dict[str, Any]:
    """Filled for what was measured here, hollow for what was published."""
    symbol = symbol_of(row.kind, hollow=row.is_published)
    return {"color": colour_of(row.kind), "size": size, "symbol": symbol, "line": {"width": 2 * row.is_published}}


def _reach(row: ResultRow) -> dict[str, Any] | None:
    if row.loss.half_width is None:
        return None
    return {"type": "data", "array": [row.loss.half_width], "color": colour_of(row.kind), "thickness": 2, "width": 5}


def _tick(row: ResultRow) -> str:
    return plain(row.title) + ("<br>published" if row.is_published else "")


def _list_models(figure: go.Figure, ticks: Sequence[str]) -> None:
    """Models from top to bottom, in the order of the table."""
    places = list(range(len(ticks)))
    figure.update_yaxes(tickvals=places, ticktext=list(ticks), range=[len(ticks) - 0.4, -0.6], showgrid=False)


_DRAWINGS: dict[str, Callable[[FigureView[Any]], go.Figure]] = {
    "loss": draw_loss,
    "loss_against_parameters": draw_parameters,
    "learning_curves": draw_learning_curves,
    "step_time": draw_step_time,
    "significance": draw_significance,
    "ablation_grid": draw_ablation_grid,
    "depth_steps": draw_depth_steps,
}
