"""Drawings of how low the loss gets: by model, by size, along training; and of what a training step takes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tipshare.kinds import colour_of, mark_of, rank_of, title_of
from training.report.figure_style import WIDTH, key, legend_below, new_axes, new_panels
from training.results.formatting import count_in_words, show_mean
from training.results.rows import ResultRow
from training.results.views.curves import CurvePoint
from training.results.views.figure import FigureView, by_title
from training.results.views.losses import Mark

MOST_CURVES = 6
MOST_NAMES = 10
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
PUBLISHED = "published: not causal, see the notes"


def draw_loss(view: FigureView[Mark]) -> Figure:
    """The loss of every model with its interval and seeds; hollow marks are published."""
    rows = [mark.row for mark in view.points if mark.seed is None]
    figure, axes = new_axes(view, height=1.4 + 0.4 * len(rows))
    place = -1
    for mark in view.points:
        look = _look(mark.row.kind, hollow=mark.row.is_published)
        if mark.seed is not None:
            axes.plot([mark.loss], [place + 0.22], **look, markersize=3, alpha=0.55, markeredgewidth=0.8, zorder=3)
            continue
        place += 1
        reach = mark.row.loss.half_width
        axes.errorbar([mark.loss], [place], xerr=reach and [reach], **look, markersize=7, capsize=3, zorder=4)
        _value(axes, show_mean(mark.row.loss), place)
    _list_models(axes, rows)
    legend_below(figure, _sources(rows, "mean and 95 % interval, with seeds"))
    return figure


def draw_parameters(view: FigureView[ResultRow]) -> Figure:
    """Loss against stored parameters, on a logarithmic axis."""
    figure, axes = new_axes(view, height=4.2)
    measured = [row for row in view.points if not row.is_published]
    for row in view.points:
        place, reach = (row.parameters or 1, row.loss.mean), row.loss.half_width
        look = _look(row.kind, hollow=row.is_published)
        axes.errorbar(*([each] for each in place), yerr=reach and [reach], **look, markersize=8)
        # Kinds are in the legend; ablations of one kind look alike, so they carry their names while there is room.
        if row.label != row.kind and len(measured) <= MOST_NAMES:
            axes.annotate(row.title, place, (7, 3), textcoords="offset points", fontsize=7)
    axes.set_xscale("log")
    counts = [row.parameters or 1 for row in view.points]
    axes.set_xlim(min(counts) / 1.6, max(counts) * 1.6)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(counts) / min(counts) < 60 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count_in_words(round(value))))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True)
    kinds = sorted({row.kind for row in view.points}, key=rank_of)
    handles = [key(title_of(kind), colour=colour_of(kind), mark=mark_of(kind)) for kind in kinds]
    legend_below(figure, [*handles, *_sources(view.points, "95 % interval")])
    return figure


def draw_step_time(view: FigureView[ResultRow]) -> Figure:
    """Milliseconds per training step, a panel for every device."""
    devices = list(dict.fromkeys(row.device for row in view.points))
    groups = [[row for row in view.points if row.device == device] for device in devices]
    height = 0.8 + 0.8 * len(groups) + 0.3 * len(view.points)
    figure, panels = new_panels(view, height, (len(groups), 1), height_ratios=[len(rows) + 1 for rows in groups])
    for axes, device, rows in zip(panels, devices, groups, strict=True):
        for place, row in enumerate(rows):
            axes.plot([row.step_ms or 0.0], [place], **_look(row.kind, hollow=row.is_published), markersize=7)
            _value(axes, f"{row.step_ms:.1f} ms", place)
        axes.set_xlim(0, max(row.step_ms or 0.0 for row in rows) * 1.08)
        axes.set_title(device, fontsize=8, loc="left")
        _list_models(axes, rows)
    panels[-1].set_xlabel(view.x_label)
    return figure


def draw_learning_curves(view: FigureView[CurvePoint]) -> Figure:
    """Loss along training: the mean over seeds, and the range of the seeds."""
    curves = list(by_title(view.points).values())
    if sum(curve[0].source == "measured" for curve in curves) > MOST_CURVES:
        return _curves_by_kind(view, curves)
    figure, axes = new_axes(view, height=4.2)
    handles = _draw_curves(axes, curves)
    if any(curve[0].num_seeds > 1 for curve in curves):
        handles.append(Line2D([], [], color="grey", alpha=0.25, linewidth=6, label="range of the seeds"))
    legend_below(figure, handles)
    return figure


def _curves_by_kind(view: FigureView[CurvePoint], curves: Sequence[Sequence[CurvePoint]]) -> Figure:
    """One panel per kind, for ablations of more models than one pair of axes can show."""
    kinds = list(dict.fromkeys(curve[0].kind for curve in curves))
    figure, panels = new_panels(view, 4.2, (1, len(kinds)), width=max(WIDTH, 2.8 * len(kinds)), sharey=True)
    for axes, kind in zip(panels, kinds, strict=True):
        handles = _draw_curves(axes, [curve for curve in curves if curve[0].kind == kind])
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.18), handlelength=3)
        axes.set_xlabel(view.x_label)
    panels[0].set_ylabel(view.y_label)
    return figure


def _draw_curves(axes: Axes, curves: Iterable[Sequence[CurvePoint]]) -> list[Line2D]:
    handles = []
    drawn: Counter[str] = Counter()
    for curve in curves:
        kind, is_published = curve[0].kind, curve[0].source == "published"
        # Ablations share the colour of their kind; the line tells them apart.
        line = ":" if is_published else LINES[drawn[kind] % len(LINES)]
        drawn[kind] += not is_published
        has_marks = is_published or (len(curve) <= 12 and drawn[kind] == 1)
        look = _look(kind, hollow=is_published) | {"linestyle": line, "marker": mark_of(kind) if has_marks else ""}
        steps, *losses = zip(*((each.step, each.loss, each.lowest, each.highest) for each in curve), strict=True)
        axes.plot(steps, losses[0], linewidth=1.0 if is_published else 1.5, markersize=4, **look)
        axes.fill_between(steps, losses[1], losses[2], color=colour_of(kind), alpha=0.15, linewidth=0)
        handles.append(Line2D([], [], label=curve[0].title, **look))
    axes.grid(True)
    return handles


def _look(kind: str, *, hollow: bool) -> dict[str, Any]:
    face = "white" if hollow else colour_of(kind)
    return {"color": colour_of(kind), "marker": mark_of(kind), "markerfacecolor": face, "linestyle": ""}


def _value(axes: Axes, text: str, at: float) -> None:
    """A number to the right of the axes, in line with its mark."""
    axes.text(1.01, at, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8)


def _list_models(axes: Axes, rows: Sequence[ResultRow]) -> None:
    """Models from top to bottom, in the order of the tables."""
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x")


def _sources(rows: Sequence[ResultRow], what: str) -> list[Line2D]:
    """The legend of filled and hollow marks."""
    measured = [row for row in rows if not row.is_published]
    several = any(row.loss.half_width is not None for row in measured)
    handles = [key(f"measured here: {what}" if several else "measured here, one seed")] if measured else []
    return handles + ([key(PUBLISHED, hollow=True)] if len(measured) < len(rows) else [])
