"""Figures of how low the loss gets: by model, by size, along training, and what a step takes."""

from collections import Counter
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.plot_style import CLEAR, SYMBOLS, new_figure, plain, transparent
from app.results.data import Choice
from tipshare.kinds import colour_of, mark_of, title_of
from training.report.figure_style import MissingDataError
from training.report.loss_figures import mean_curve
from training.report.tables import count_in_words, show_loss
from training.results.published import published_for
from training.results.rows import ResultRow

# Figures side by side are equally high.
LEAST_HEIGHT = 380
DASHES = ("solid", "dash", "dashdot", "dot", "longdash")
LOSS_AXIS = "validation loss (nats per byte)"


def draw_loss(choice: Choice) -> go.Figure:
    """Every model's mean with its interval, and its seeds as small dots."""
    rows = choice.rows()
    if not rows:
        raise MissingDataError(_nothing_published(choice))
    figure = new_figure(max(LEAST_HEIGHT, 96 + 52 * len(rows)), legend=False)
    for place, row in enumerate(rows):
        figure.add_scatter(
            x=row.loss.values,
            y=[place + 0.22] * len(row.loss.values),
            mode="markers",
            marker={**_marker(row, size=6), "opacity": 0.6},
            customdata=row.loss.seeds,
            hovertemplate="seed %{customdata}: %{x:.4f}<extra></extra>"
            if row.loss.half_width is not None
            else "%{x:.4f}<extra></extra>",
            visible=row.loss.half_width is not None,
        )
        figure.add_scatter(
            x=[row.loss.mean],
            y=[place],
            mode="markers",
            marker=_marker(row, size=12),
            error_x=_reach(row),
            hovertemplate=f"{plain(row.title)}, {row.source}: {show_loss(row)}<extra></extra>",
        )
    _list_models(figure, rows)
    values = [value for row in rows for value in (*row.loss.values, row.loss.low, row.loss.high) if value is not None]
    room = (max(values) - min(values)) * 0.08 + 0.01
    low, high = min(values) - room, max(values) + room
    figure.update_xaxes(title=LOSS_AXIS, range=[low, high])
    for place, row in enumerate(rows):
        # Towards the middle near either end, so that narrow screens cut nothing off.
        share = (row.loss.mean - low) / (high - low)
        anchor = "left" if share < 0.3 else "right" if share > 0.7 else "center"
        figure.add_annotation(
            x=row.loss.mean,
            y=place,
            text=show_loss(row),
            showarrow=False,
            xanchor=anchor,
            yshift=17,
            font={"size": 11},
        )
    return figure


def draw_parameters(choice: Choice) -> go.Figure:
    """Loss against stored parameters, on a logarithmic axis."""
    rows = [row for row in choice.rows() if row.parameters]
    if not rows:
        raise MissingDataError("no run here has both a loss and a parameter count")
    figure = new_figure(max(LEAST_HEIGHT, 96 + 52 * len(choice.rows())))
    for row in rows:
        figure.add_scatter(
            x=[row.parameters],
            y=[row.loss.mean],
            mode="markers",
            marker=_marker(row, size=13),
            error_y=_reach(row),
            name=plain(_name(row)),
            hovertemplate=f"{count_in_words(row.parameters or 0)} parameters: {show_loss(row)}<extra></extra>",
        )
    counts = [row.parameters or 1 for row in rows]
    low, high = np.log10(min(counts)) - 0.2, np.log10(max(counts)) + 0.2
    ticks = [size * 10**power for power in range(3, 10) for size in (1, 2, 5)]
    # Few marks on a wide range, more on a narrow one.
    ticks = [each for each in ticks if low <= np.log10(each) <= high and (high - low < 2.4 or str(each)[0] == "1")]
    figure.update_xaxes(
        title="stored parameters",
        type="log",
        range=[low, high],
        tickvals=ticks,
        ticktext=[count_in_words(each) for each in ticks],
    )
    figure.update_yaxes(title=LOSS_AXIS)
    return figure


def draw_step_time(choice: Choice) -> go.Figure:
    """Milliseconds per training step; published ones are of another machine."""
    rows = [row for row in choice.rows() if row.step_ms]
    if not rows:
        raise MissingDataError("no run here has a step time")
    figure = new_figure(max(LEAST_HEIGHT, 96 + 44 * len(rows)), legend=False)
    for place, row in enumerate(rows):
        hollow = row.source == "published"
        figure.add_bar(
            x=[row.step_ms],
            y=[place],
            orientation="h",
            width=0.5,
            marker={
                "color": CLEAR if hollow else colour_of(row.kind),
                "line": {"color": colour_of(row.kind), "width": 2},
            },
            text=f"{row.step_ms:.1f} ms" if row.step_ms else "",
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"{plain(row.title)}, {row.source}: %{{x:.1f}} ms<extra></extra>",
        )
    _list_models(figure, rows)
    figure.update_xaxes(title="ms per training step", range=[0, max(row.step_ms or 0 for row in rows) * 1.35])
    return figure


def draw_learning_curves(choice: Choice, which: str = "validation", window: int = 1) -> go.Figure:
    """Loss along training: the mean over seeds, the range of the seeds, each a mean of `window` neighbouring points."""
    figure = new_figure(LEAST_HEIGHT)
    group = choice.group
    drawn: Counter[str] = Counter()
    for label in group.labels if choice.source != "published" else ():
        curve = mean_curve(group, label) if which == "validation" else training_curve(choice, label)
        if curve is None:
            continue
        kind = group.kind_of(label)
        steps, low, mean, high = (smooth(each, window) for each in curve)
        # Ablations share the colour of their kind; the line tells them apart.
        dash = DASHES[drawn[kind] % len(DASHES)]
        drawn[kind] += 1
        if len(group.runs[label]) > 1:
            figure.add_scatter(
                x=np.concatenate([steps, steps[::-1]]),
                y=np.concatenate([high, low[::-1]]),
                mode="lines",
                fill="toself",
                fillcolor=transparent(colour_of(kind), 0.16),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        figure.add_scatter(
            x=steps,
            y=mean,
            mode="lines+markers" if len(steps) <= 30 else "lines",
            line={"color": colour_of(kind), "width": 2, "dash": dash},
            marker={"size": 6, "symbol": SYMBOLS[mark_of(kind)]},
            name=plain(title_of(label)),
            hovertemplate="step %{x:.0f}: %{y:.3f}<extra></extra>",
        )
    if choice.source != "measured" and which == "validation":
        _published_curves(figure, choice)
    if not figure.data:
        raise MissingDataError(
            "nothing was published of the course of these runs"
            if choice.source == "published"
            else "learning curves need runs with at least two evaluations"
        )
    figure.update_xaxes(title="training step", rangemode="tozero")
    figure.update_yaxes(title="training loss (nats per byte)" if which == "training" else LOSS_AXIS)
    return figure


def training_curve(choice: Choice, label: str) -> tuple[np.ndarray, ...] | None:
    """Steps, and lowest, mean and highest training loss, at the steps that all seeds of a model have."""
    curves = [{step: loss for step, loss in run.train_curve} for run in choice.group.runs[label]]
    steps = sorted(set.intersection(*(set(each) for each in curves)))
    if len(steps) < 2:
        return None
    losses = np.array([[each[step] for step in steps] for each in curves])
    return np.array(steps), losses.min(0), losses.mean(0), losses.max(0)


def smooth(values: np.ndarray, window: int) -> np.ndarray:
    """The mean of every `window` neighbouring values; a window wider than the curve is made to fit."""
    if window < 1:
        raise ValueError(f"window={window} must be a whole number of points, 1 or more")
    window = min(int(window), len(values))
    return np.convolve(values, np.ones(window) / window, mode="valid")


def _published_curves(figure: go.Figure, choice: Choice) -> None:
    experiment = published_for(choice.group.recipe)
    kinds = {choice.group.kind_of(label) for label in choice.group.labels}
    for result in experiment.results if experiment else ():
        if result.curve and result.kind in kinds:
            steps, losses = zip(*result.curve, strict=True)
            figure.add_scatter(
                x=steps,
                y=losses,
                mode="lines+markers",
                line={"color": colour_of(result.kind), "width": 1.2, "dash": "dot"},
                marker={"size": 8, "symbol": f"{SYMBOLS[mark_of(result.kind)]}-open"},
                name=plain(f"{result.name}, published"),
                hovertemplate="step %{x}: %{y:.3f}<extra></extra>",
            )


def _marker(row: ResultRow, *, size: int) -> dict[str, Any]:
    """Filled for what was measured here, hollow for what was published."""
    symbol = SYMBOLS[mark_of(row.kind)]
    hollow = row.source == "published"
    return {
        "color": colour_of(row.kind),
        "size": size,
        "symbol": f"{symbol}-open" if hollow else symbol,
        "line": {"width": 2 if hollow else 0},
    }


def _reach(row: ResultRow) -> dict[str, Any] | None:
    if row.loss.half_width is None:
        return None
    return {"type": "data", "array": [row.loss.half_width], "color": colour_of(row.kind), "thickness": 2, "width": 5}


def _name(row: ResultRow) -> str:
    return f"{row.title}, published" if row.source == "published" else row.title


def _list_models(figure: go.Figure, rows: list[ResultRow]) -> None:
    """Models from top to bottom, in the order of the table."""
    names = [plain(row.title) + ("<br>published" if row.source == "published" else "") for row in rows]
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=names, range=[len(rows) - 0.4, -0.6], showgrid=False)


def _nothing_published(choice: Choice) -> str:
    return f"nothing was published for {choice.group.name}: choose published-1000 or published-3000, or measured"
