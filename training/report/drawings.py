"""Views drawn with matplotlib: lists of models, marks in a plane, matrices."""

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from tipshare.kinds import colour_of, mark_of, rank_of, title_of
from training.report.figure_style import FAINT, INK, WIDTH, legend_below, new_axes, new_panels
from training.results.formatting import count_in_words
from training.results.views.figure import Cell, FigureView, Mark, front_of, lines_of, rows_and_columns

MOST_LINES = 6
MOST_NAMES = 10
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
# Where a name may stand beside its mark, in points, and the side that is set to that place.
NAME_PLACES = (
    ((7, 5), "left"),
    ((7, -7), "left"),
    ((-7, 5), "right"),
    ((-7, -7), "right"),
    ((7, 14), "left"),
    ((-7, -16), "right"),
)
SIZES = {"small": 3, "usual": 6, "large": 10}


def draw_view(view: FigureView[Any]) -> Figure:
    """The figure of a view that has something to show."""
    return {"list": draw_list, "plane": draw_plane, "matrix": draw_matrix}[view.form](view)


def draw_list(view: FigureView[Mark]) -> Figure:
    """Models from top to bottom with their values; a panel for every group that has an axis of its own."""
    panels = {mark.panel: [each for each in view.points if each.panel == mark.panel] for mark in view.points}
    counts = [len(lines_of(marks)) for marks in panels.values()]
    height = 0.7 + 0.7 * len(counts) + 0.38 * sum(counts)
    figure, all_axes = new_panels(view, height, (len(counts), 1), height_ratios=[count + 1 for count in counts])
    for axes, (panel, marks) in zip(all_axes, panels.items(), strict=True):
        for place, (_, (mean, *seeds)) in enumerate(lines_of(marks).items()):
            _errorbar(axes, [mean.value], [place], [mean], axis="x")
            axes.text(1.01, place, mean.text, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
            for seed in seeds:
                axes.plot([seed.value], [place + 0.22], **_look(seed), alpha=0.55, markeredgewidth=0.8)
        axes.set_yticks(range(len(lines_of(marks))), list(lines_of(marks)))
        axes.set_ylim(len(lines_of(marks)) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(True, axis="x")
        if panel:
            axes.set_title(panel, fontsize=8, loc="left")
            axes.set_xlim(0, max(mark.value for mark in marks) * 1.08)
    all_axes[-1].set_xlabel(view.x_label)
    legend_below(figure, _legend(view.points, is_range=False))
    return figure


def draw_plane(view: FigureView[Mark]) -> Figure:
    """Marks by two numbers, joined by lines where they belong together."""
    lines = lines_of(view.points)
    if sum(not marks[0].is_published for marks in lines.values()) > MOST_LINES and view.is_range:
        return _draw_by_kind(view, lines)
    # The legend stands below the axes and must leave them room.
    figure, axes = new_axes(view, height=4.2 if len(lines) <= MOST_LINES else 5.4)
    handles = [_draw_line(axes, marks, is_range=view.is_range) for marks in lines.values()]
    if view.has_front:
        handles.append(_draw_front(axes, front_of(view.points)))
        # A mark for every kind, since models of one kind look alike; filled if any of them was measured.
        first = {mark.kind: mark for mark in reversed(view.points)}
        kinds = [Line2D([], [], label=title_of(kind), **_look(first[kind])) for kind in sorted(first, key=rank_of)]
        handles = [*kinds, *handles[-1:]]
        if view.is_count:
            _count_axis(axes, [mark.at for mark in view.points])
    elif view.names_marks:
        for mark in view.points:
            axes.annotate(mark.text, (mark.at, mark.value), (6, 5), textcoords="offset points", fontsize=7)
    elif len({mark.at for mark in view.points}) <= MOST_NAMES:
        axes.set_xticks(sorted({mark.at for mark in view.points}))
    if view.ceiling is not None:
        axes.set_ylim(top=view.ceiling)
    axes.grid(True)
    legend_below(figure, [*handles, *_legend(view.points, is_range=view.is_range)])
    # Ablations of one kind look alike, so they carry their names while there is room.
    named = [mark for mark in view.points if view.has_front and mark.title != title_of(mark.kind)]
    if 0 < len(named) <= MOST_NAMES:
        _write_names(figure, axes, named, view.points)
    return figure


def _write_names(figure: Figure, axes: Axes, named: Sequence[Mark], marks: Sequence[Mark]) -> None:
    """The titles of marks beside them, each at the first place that is free of other names and marks, if one is."""
    figure.draw_without_rendering()
    centres = [axes.transData.transform((mark.at, mark.value)) for mark in marks]
    taken = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in centres]
    for mark in named:
        for place, side in (*NAME_PLACES, NAME_PLACES[0]):
            look: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "ha": side, "va": "center"}
            name = axes.annotate(mark.title, (mark.at, mark.value), place, **look)
            box = name.get_window_extent()
            if not box.count_overlaps(taken) and axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1:
                break
            name.set_visible(False)
        name.set_visible(True)
        taken.append(box)


def _draw_front(axes: Axes, front: Sequence[Mark]) -> Line2D:
    """The Pareto front as steps and the better corner in words; returns its entry in the legend."""
    look: dict[str, Any] = {"color": INK, "linewidth": 1, "linestyle": "--", "alpha": 0.5, "zorder": 0}
    places, values = [mark.at for mark in front], [mark.value for mark in front]
    axes.step(places, values, where="post", **look)
    axes.text(0.02, 0.03, "\N{SOUTH WEST ARROW} better", transform=axes.transAxes, fontsize=8, color=INK)
    return Line2D([], [], label="Pareto front", **look)


def _draw_by_kind(view: FigureView[Mark], lines: dict[str, list[Mark]]) -> Figure:
    """One panel per kind, for more lines than one pair of axes can show."""
    kinds = list(dict.fromkeys(mark.kind for mark in view.points))
    figure, panels = new_panels(view, 4.2, (1, len(kinds)), width=max(WIDTH, 2.8 * len(kinds)), sharey=True)
    for axes, kind in zip(panels, kinds, strict=True):
        handles = [_draw_line(axes, marks, is_range=True) for marks in lines.values() if marks[0].kind == kind]
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.18), handlelength=3)
        axes.set_xlabel(view.x_label)
        axes.grid(True)
    panels[0].set_ylabel(view.y_label)
    return figure


def _draw_line(axes: Axes, marks: Sequence[Mark], *, is_range: bool) -> Line2D:
    """Draw the marks of one title and return its entry in the legend."""
    first = marks[0]
    places, values = [mark.at for mark in marks], [mark.value for mark in marks]
    line = "" if first.line is None else ":" if first.is_published else LINES[first.line % len(LINES)]
    if is_range:
        lowest, highest = [mark.low or 0.0 for mark in marks], [mark.high or 0.0 for mark in marks]
        axes.fill_between(places, lowest, highest, color=colour_of(first.kind), alpha=0.15, linewidth=0)
        axes.plot(places, values, **_look(first) | {"linestyle": line, "markersize": 4, "linewidth": 1.5})
    else:
        _errorbar(axes, places, values, marks, axis="y", linestyle=line)
        for mark in marks:
            if mark.size == "large":
                axes.plot([mark.at], [mark.value], **_look(mark))
    return Line2D([], [], label=first.title, **_look(first) | {"linestyle": line, "markersize": 6})


def _errorbar(axes: Axes, x: list[float], y: list[float], marks: Sequence[Mark], axis: str, **changes: Any) -> None:
    """Marks with their intervals, where those are known."""
    reach = [0.0 if mark.low is None or mark.high is None else (mark.high - mark.low) / 2 for mark in marks]
    look = _look(marks[0]) | {"markersize": SIZES["usual"], "linewidth": 1.4, "capsize": 3} | changes
    axes.errorbar(x, y, **{f"{axis}err": reach if any(reach) else None}, **look)


def _look(mark: Mark) -> dict[str, Any]:
    colour = colour_of(mark.kind)
    face = "white" if mark.is_published else colour
    look = {"color": colour, "marker": mark_of(mark.kind), "markerfacecolor": face}
    return look | {"markersize": SIZES[mark.size], "linestyle": ""}


def _count_axis(axes: Axes, counts: Sequence[float]) -> None:
    """Counts of parameters on a logarithmic axis."""
    axes.set_xscale("log")
    axes.set_xlim(min(counts) / 1.6, max(counts) * 1.6)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(counts) / min(counts) < 60 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count_in_words(round(value))))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _legend(marks: Sequence[Mark], *, is_range: bool) -> list[Line2D]:
    """What intervals, small marks, bands and hollow marks are, as far as there are any."""
    look: dict[str, Any] = {"color": INK, "marker": "o", "linestyle": ""}
    entries = []
    if is_range and any(mark.num_seeds > 1 for mark in marks):
        entries.append(Line2D([], [], color="grey", alpha=0.25, linewidth=6, label="range of the seeds"))
    elif any(mark.low is not None for mark in marks) and not is_range:
        small = ", with seeds" if any(mark.size == "small" for mark in marks) else ""
        entries.append(Line2D([], [], label=f"mean and 95 % interval{small}", **look))
    if any(mark.is_published for mark in marks):
        entries.append(Line2D([], [], markerfacecolor="white", label="published: not causal, see the notes", **look))
    return entries


def draw_matrix(view: FigureView[Cell]) -> Figure:
    """Cells with texts, on the colours that the view gives them."""
    rows, columns = rows_and_columns(view.points)
    figure, axes = new_axes(view, width=max(5.6, 2.4 + len(columns)), height=1.8 + 0.75 * len(rows))
    for cell in view.points:
        x, y = columns.index(cell.column), rows.index(cell.row)
        look: dict[str, Any] = {"facecolor": cell.colour, "edgecolor": "white"}
        if cell.colour is None:
            look = {"facecolor": "white", "edgecolor": FAINT, "hatch": "///"}
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, linewidth=2, **look))
        axes.text(x, y, "\n".join(cell.lines), ha="center", va="center", fontsize=8)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), [textwrap.fill(name, 12) for name in columns])
    axes.set_yticks(range(len(rows)), [textwrap.fill(name, 24) for name in rows])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if view.meanings:
        patches = [Patch(facecolor=each, edgecolor=FAINT, label=words) for each, words in view.meanings.items()]
        legend_below(figure, patches)
    return figure
