"""Figures of how low the loss gets: by model, by size, along training."""

from collections import Counter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tipshare.kinds import LOOKS, colour_of, mark_of, title_of
from training.report.figure_style import WIDTH, MissingDataError, key, legend_below, new_axes, set_title
from training.report.tables import count_in_words, show_loss
from training.results.groups import RunGroup
from training.results.published import published_for
from training.results.rows import ResultRow, result_rows
from training.results.summaries import LOSS

# Steps, and lowest, mean and highest loss of the seeds.
Curve = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

MOST_CURVES = 6
MOST_NAMES = 10
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def draw_loss(group: RunGroup, metric: str = LOSS) -> Figure:
    """The loss of every model with its interval and seeds; published figures beside it, hollow."""
    measured = _measured(group, metric)
    published = {row.kind: row for row in _published(group, metric)}
    row_height = 0.6 if published else 0.38
    figure, axes = new_axes(f"{_name(metric)} by model, {group.name}", height=1.4 + row_height * len(measured))
    for place, row in enumerate(measured):
        theirs = published.get(row.kind) if row.label == row.kind else None
        for each, at in ((row, place - (0.24 if theirs else 0.0)), (theirs, place + 0.18)):
            if each:
                _dots(axes, each, at, seeds_at=at + (0.13 if published else 0.22))
                _value(axes, show_loss(each), at)
    _list_models(axes, measured)
    axes.set_xlabel(_unit(metric))
    legend_below(figure, _sources(group, measured, metric, "mean and 95 % interval, with seeds"))
    return figure


def draw_parameters(group: RunGroup, metric: str = LOSS) -> Figure:
    """Loss against stored parameters, on a logarithmic axis."""
    measured = [row for row in _measured(group, metric) if row.parameters]
    if len(measured) < 2:
        raise MissingDataError("loss against parameters needs at least two models with parameter counts")
    rows = [*measured, *(row for row in _published(group, metric) if row.parameters)]
    figure, axes = new_axes(f"{_name(metric)} against stored parameters, {group.name}", height=4.2)
    for row in rows:
        hollow = row.source == "published"
        axes.errorbar(
            [row.parameters or 0],
            [row.loss.mean],
            yerr=None if row.loss.half_width is None else [row.loss.half_width],
            **_mark(row.kind, hollow=hollow, size=8),
        )
        # Kinds are in the legend; ablations of one kind look alike, so they carry their names while there is room.
        if row.label != row.kind and len(measured) <= MOST_NAMES:
            axes.annotate(
                row.title, (row.parameters or 0, row.loss.mean), (7, 3), textcoords="offset points", fontsize=7
            )
    axes.set_xscale("log")
    counts = [row.parameters or 1 for row in rows]
    axes.set_xlim(min(counts) / 1.6, max(counts) * 1.6)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(counts) / min(counts) < 60 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count_in_words(round(value))))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True)
    axes.set_xlabel("stored parameters")
    axes.set_ylabel(_unit(metric))
    kinds = [kind for kind in LOOKS if any(row.kind == kind for row in rows)]
    handles = [key(LOOKS[kind].title, colour=colour_of(kind), mark=mark_of(kind)) for kind in kinds]
    legend_below(figure, [*handles, *_sources(group, measured, metric, "95 % interval")])
    return figure


def draw_step_time(group: RunGroup, metric: str = LOSS) -> Figure:
    """Milliseconds per training step; published ones are of another machine."""
    measured = [row for row in _measured(group, metric) if row.step_ms]
    if not measured:
        raise MissingDataError("step time needs runs with speed.step_ms")
    published = {row.kind: row for row in _published(group, metric) if row.step_ms}
    row_height = 0.45 if published else 0.3
    figure, axes = new_axes(f"Time per training step, {group.name}", height=1.4 + row_height * len(measured))
    shown = []
    for place, row in enumerate(measured):
        theirs = published.get(row.kind) if row.label == row.kind else None
        for each, at in ((row, place - (0.14 if theirs else 0.0)), (theirs, place + 0.18)):
            if each and each.step_ms:
                hollow = each.source == "published"
                axes.errorbar([each.step_ms], [at], **_mark(each.kind, hollow=hollow, size=7))
                _value(axes, f"{each.step_ms:.1f} ms", at)
                shown.append(each.step_ms)
    if max(shown) < 8 * min(shown):
        axes.set_xlim(0, max(shown) * 1.08)
    else:
        axes.set_xscale("log")
        axes.set_xlim(min(shown) / 1.5, max(shown) * 1.5)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    _list_models(axes, measured)
    axes.set_xlabel("ms per training step")
    device = group.devices[0] if len(group.devices) == 1 else "several devices"
    handles = [key(f"measured here ({device}), median")]
    experiment = published_for(group.recipe)
    if published and experiment:
        handles.append(key(f"published ({experiment.device})", hollow=True))
    legend_below(figure, handles)
    return figure


def draw_learning_curves(group: RunGroup, metric: str = LOSS) -> Figure:
    """Validation loss along training: the mean over seeds, and the range of the seeds."""
    curves = {label: curve for label in group.labels if (curve := mean_curve(group, label)) is not None}
    if not curves:
        raise MissingDataError("learning curves need runs with at least two evaluations")
    title = f"Validation loss along training, {group.name}"
    if len(curves) > MOST_CURVES:
        return _curves_by_kind(group, curves, title)
    figure, axes = new_axes(title, height=4.2)
    handles = _draw_curves(axes, group, curves)
    experiment = published_for(group.recipe)
    theirs = [each for each in experiment.results if each.curve] if experiment else []
    for each in theirs:
        axes.plot(*zip(*each.curve, strict=True), **_mark(each.kind, hollow=True, size=5), linestyle=":", linewidth=1)
    if theirs:
        handles.append(key("published: not causal, see the notes", hollow=True, line=":"))
    if any(len(group.runs[label]) > 1 for label in curves):
        handles.append(Line2D([], [], color="grey", alpha=0.25, linewidth=6, label="range of the seeds"))
    axes.set_xlabel("training step")
    axes.set_ylabel(_unit(LOSS))
    legend_below(figure, handles)
    return figure


def _curves_by_kind(group: RunGroup, curves: dict[str, Curve], title: str) -> Figure:
    """One panel per kind, for ablations of more models than one pair of axes can show."""
    kinds = list(dict.fromkeys(group.kind_of(label) for label in curves))
    figure = Figure(figsize=(max(WIDTH, 2.8 * len(kinds)), 4.2), layout="constrained")
    set_title(figure, title)
    for axes, kind in zip(figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0], kinds, strict=True):
        handles = _draw_curves(axes, group, {label: curves[label] for label in curves if group.kind_of(label) == kind})
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.18), handlelength=3)
        axes.set_xlabel("training step")
    figure.axes[0].set_ylabel(_unit(LOSS))
    return figure


def _draw_curves(axes: Axes, group: RunGroup, curves: dict[str, Curve]) -> list[Line2D]:
    handles = []
    drawn: Counter[str] = Counter()
    for label, (steps, low, mean, high) in curves.items():
        kind = group.kind_of(label)
        # Ablations share the colour of their kind; the line tells them apart.
        line = LINES[drawn[kind] % len(LINES)]
        drawn[kind] += 1
        mark = mark_of(kind) if len(steps) <= 12 and drawn[kind] == 1 else ""
        axes.plot(steps, mean, color=colour_of(kind), linestyle=line, linewidth=1.5, marker=mark, markersize=4)
        axes.fill_between(steps, low, high, color=colour_of(kind), alpha=0.15, linewidth=0)
        handles.append(Line2D([], [], color=colour_of(kind), linestyle=line, marker=mark, label=title_of(label)))
    axes.grid(True)
    return handles


def mean_curve(group: RunGroup, label: str) -> Curve | None:
    """A model's learning curve, at the steps that all of its seeds have."""
    curves = [{step: loss for step, loss in run.curve} for run in group.runs[label]]
    steps = sorted(set.intersection(*(set(each) for each in curves)))
    if len(steps) < 2:
        return None
    losses = np.array([[each[step] for step in steps] for each in curves])
    return np.array(steps), losses.min(0), losses.mean(0), losses.max(0)


def _measured(group: RunGroup, metric: str) -> list[ResultRow]:
    rows = result_rows(group, metric=metric)
    if not rows:
        raise MissingDataError(f"no run of {group.name} has the final number {metric!r}")
    return rows


def _published(group: RunGroup, metric: str) -> list[ResultRow]:
    """Published rows; they are validation losses and have no place beside other metrics."""
    return result_rows(group, metric=metric, source="published") if metric == LOSS else []


def _name(metric: str) -> str:
    return "Validation loss" if metric == LOSS else metric


def _unit(metric: str) -> str:
    return "validation loss (nats per byte)" if metric == LOSS else metric


def _mark(kind: str, *, hollow: bool, size: float) -> dict:
    colour = colour_of(kind)
    face = "white" if hollow else colour
    return {"color": colour, "marker": mark_of(kind), "markerfacecolor": face, "markersize": size}


def _dots(axes: Axes, row: ResultRow, at: float, *, seeds_at: float) -> None:
    """The mean as a mark, the interval as a bar, and the seeds as small dots beneath."""
    hollow = row.source == "published"
    reach = row.loss.half_width
    if reach is not None:
        axes.errorbar([row.loss.mean], [at], xerr=[reach], color=colour_of(row.kind), capsize=3, linewidth=1.4)
        face = "none" if hollow else colour_of(row.kind)
        axes.scatter(
            row.loss.values,
            [seeds_at] * len(row.loss.values),
            s=9,
            alpha=0.55,
            facecolors=face,
            edgecolors=colour_of(row.kind),
            linewidths=0.8,
            zorder=3,
        )
    axes.plot([row.loss.mean], [at], **_mark(row.kind, hollow=hollow, size=7), zorder=4)


def _value(axes: Axes, text: str, at: float) -> None:
    """A number to the right of the axes, in line with its mark."""
    axes.text(1.01, at, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8)


def _list_models(axes: Axes, rows: list[ResultRow]) -> None:
    """Models from top to bottom, in the order of the tables."""
    axes.set_yticks(range(len(rows)), [row.title for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x")


def _sources(group: RunGroup, measured: list[ResultRow], metric: str, what: str) -> list[Line2D]:
    """The legend of filled and hollow marks."""
    several = any(row.loss.half_width is not None for row in measured)
    handles = [key(f"measured here: {what}" if several else "measured here, one seed")]
    if _published(group, metric):
        handles.append(key("published: not causal, see the notes", hollow=True))
    return handles
