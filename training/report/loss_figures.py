"""Drawings of how low the loss gets: by model, by size, along training; and of what a training step takes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tipshare.kinds import colour_of, mark_of, rank_of, title_of
from training.report.figure_style import WIDTH, full_title, key, legend_below, new_axes, set_title
from training.results.formatting import count_in_words, show_mean
from training.results.rows import ResultRow
from training.results.views.curves import Curve
from training.results.views.figure import FigureView

MOST_CURVES = 6
MOST_NAMES = 10
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
PUBLISHED = "published: not causal, see the notes"


def draw_loss(view: FigureView[ResultRow]) -> Figure:
    """The loss of every model with its interval and seeds; hollow marks are published."""
    figure, axes = new_axes(full_title(view), height=1.4 + 0.4 * len(view.points))
    for place, row in enumerate(view.points):
        colour = colour_of(row.kind)
        if row.loss.half_width is not None:
            axes.errorbar([row.loss.mean], [place], xerr=[row.loss.half_width], color=colour, capsize=3, linewidth=1.4)
            axes.scatter(
                row.loss.values,
                [place + 0.22] * len(row.loss.values),
                s=9,
                alpha=0.55,
                facecolors="none" if row.is_published else colour,
                edgecolors=colour,
                linewidths=0.8,
                zorder=3,
            )
        axes.plot([row.loss.mean], [place], **_mark(row.kind, hollow=row.is_published, size=7), zorder=4)
        _value(axes, show_mean(row.loss), place)
    _list_models(axes, view.points)
    axes.set_xlabel(view.x_label)
    legend_below(figure, _sources(view.points, "mean and 95 % interval, with seeds"))
    return figure


def draw_parameters(view: FigureView[ResultRow]) -> Figure:
    """Loss against stored parameters, on a logarithmic axis."""
    figure, axes = new_axes(full_title(view), height=4.2)
    published = [row for row in view.points if row.is_published]
    for row in view.points:
        axes.errorbar(
            [row.parameters or 0],
            [row.loss.mean],
            yerr=None if row.loss.half_width is None else [row.loss.half_width],
            **_mark(row.kind, hollow=row.is_published, size=8),
        )
        # Kinds are in the legend; ablations of one kind look alike, so they carry their names while there is room.
        if row.label != row.kind and len(view.points) <= MOST_NAMES + len(published):
            place = (row.parameters or 0, row.loss.mean)
            axes.annotate(row.title, place, (7, 3), textcoords="offset points", fontsize=7)
    axes.set_xscale("log")
    counts = [row.parameters or 1 for row in view.points]
    axes.set_xlim(min(counts) / 1.6, max(counts) * 1.6)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(counts) / min(counts) < 60 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count_in_words(round(value))))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True)
    axes.set_xlabel(view.x_label)
    axes.set_ylabel(view.y_label)
    kinds = sorted({row.kind for row in view.points}, key=rank_of)
    handles = [key(title_of(kind), colour=colour_of(kind), mark=mark_of(kind)) for kind in kinds]
    legend_below(figure, [*handles, *_sources(view.points, "95 % interval")])
    return figure


def draw_step_time(view: FigureView[ResultRow]) -> Figure:
    """Milliseconds per training step, a panel for every device."""
    devices = list(dict.fromkeys(row.device for row in view.points))
    groups = [[row for row in view.points if row.device == device] for device in devices]
    figure = Figure(figsize=(WIDTH, 0.8 + 0.8 * len(groups) + 0.3 * len(view.points)), layout="constrained")
    set_title(figure, full_title(view))
    panels = figure.subplots(len(groups), 1, squeeze=False, height_ratios=[len(rows) + 1 for rows in groups])[:, 0]
    for axes, device, rows in zip(panels, devices, groups, strict=True):
        for place, row in enumerate(rows):
            axes.errorbar([row.step_ms or 0.0], [place], **_mark(row.kind, hollow=row.is_published, size=7))
            _value(axes, f"{row.step_ms:.1f} ms", place)
        axes.set_xlim(0, max(row.step_ms or 0.0 for row in rows) * 1.08)
        axes.set_title(device, fontsize=8, loc="left")
        _list_models(axes, rows)
    panels[-1].set_xlabel(view.x_label)
    return figure


def draw_learning_curves(view: FigureView[Curve]) -> Figure:
    """Loss along training: the mean over seeds, and the range of the seeds."""
    measured = [curve for curve in view.points if not curve.is_published]
    if len(measured) > MOST_CURVES:
        return _curves_by_kind(view)
    figure, axes = new_axes(full_title(view), height=4.2)
    handles = _draw_curves(axes, measured)
    published = [curve for curve in view.points if curve.is_published]
    for curve in published:
        mark = _mark(curve.kind, hollow=True, size=5)
        axes.plot([each.step for each in curve.points], [each.loss for each in curve.points], ":", lw=1, **mark)
    if published:
        handles.append(key(PUBLISHED, hollow=True, line=":"))
    if any(curve.num_seeds > 1 for curve in view.points):
        handles.append(Line2D([], [], color="grey", alpha=0.25, linewidth=6, label="range of the seeds"))
    axes.set_xlabel(view.x_label)
    axes.set_ylabel(view.y_label)
    legend_below(figure, handles)
    return figure


def _curves_by_kind(view: FigureView[Curve]) -> Figure:
    """One panel per kind, for ablations of more models than one pair of axes can show."""
    kinds = list(dict.fromkeys(curve.kind for curve in view.points))
    figure = Figure(figsize=(max(WIDTH, 2.8 * len(kinds)), 4.2), layout="constrained")
    set_title(figure, full_title(view))
    for axes, kind in zip(figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0], kinds, strict=True):
        handles = _draw_curves(axes, [curve for curve in view.points if curve.kind == kind])
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.18), handlelength=3)
        axes.set_xlabel(view.x_label)
    figure.axes[0].set_ylabel(view.y_label)
    return figure


def _draw_curves(axes: Axes, curves: Sequence[Curve]) -> list[Line2D]:
    handles = []
    drawn: Counter[str] = Counter()
    for curve in curves:
        colour = colour_of(curve.kind)
        # Ablations share the colour of their kind; the line tells them apart.
        line = LINES[drawn[curve.kind] % len(LINES)]
        drawn[curve.kind] += 1
        mark = mark_of(curve.kind) if len(curve.points) <= 12 and drawn[curve.kind] == 1 else ""
        steps = [each.step for each in curve.points]
        means = [each.loss for each in curve.points]
        axes.plot(steps, means, color=colour, linestyle=line, linewidth=1.5, marker=mark, markersize=4)
        lowest, highest = [each.lowest for each in curve.points], [each.highest for each in curve.points]
        axes.fill_between(steps, lowest, highest, color=colour, alpha=0.15, linewidth=0)
        title = f"{curve.title}, published" if curve.is_published else curve.title
        handles.append(Line2D([], [], color=colour, linestyle=line, marker=mark, label=title))
    axes.grid(True)
    return handles


def _mark(kind: str, *, hollow: bool, size: float) -> dict[str, Any]:
    colour = colour_of(kind)
    face = "white" if hollow else colour
    return {"color": colour, "marker": mark_of(kind), "markerfacecolor": face, "markersize": size}


def _value(axes: Axes, text: str, at: float) -> None:
    """A number to the right of the axes, in line with its mark."""
    axes.text(1.01, at, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8)


def _list_models(axes: Axes, rows: Sequence[ResultRow]) -> None:
    """Models from top to bottom, in the order of the tables."""
    titles = [f"{row.title}, published" if row.is_published else row.title for row in rows]
    axes.set_yticks(range(len(rows)), titles)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x")


def _sources(rows: Sequence[ResultRow], what: str) -> list[Line2D]:
    """The legend of filled and hollow marks."""
    measured = [row for row in rows if not row.is_published]
    several = any(row.loss.half_width is not None for row in measured)
    handles = [key(f"measured here: {what}" if several else "measured here, one seed")] if measured else []
    return handles + ([key(PUBLISHED, hollow=True)] if len(measured) < len(rows) else [])
