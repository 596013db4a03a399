"""Drawings of comparisons: every pair of models, weight sources by mixers, the number of depth steps."""

import textwrap
from collections.abc import Sequence
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from tipshare.kinds import colour_of, mark_of
from training.report.figure_style import FAINT, legend_below, new_axes
from training.results.formatting import count_in_words, show_mean, show_p
from training.results.views.ablations import GridCell
from training.results.views.comparisons import VERDICT_COLOURS, PairCell
from training.results.views.depths import DepthPoint
from training.results.views.figure import FigureView, by_title

SHADE = "#0072B2"


def draw_significance(view: FigureView[PairCell]) -> Figure:
    """Every pair of models: difference and corrected p-value."""
    count = len({cell.row for cell in view.points})
    figure, axes = new_axes(view, width=max(4.8, 2.4 + 0.95 * count), height=2.0 + 0.7 * count)
    for cell, place in _place(axes, view.points):
        _fill(axes, place, facecolor=VERDICT_COLOURS[cell.verdict])
        p_value = f"p = {show_p(cell.p_value)}" if cell.p_value is not None else "no test"
        axes.text(*place, f"{cell.difference:+.3f}\n{p_value}", ha="center", va="center", fontsize=8)
    axes.tick_params(axis="x", labelrotation=30)
    for label in axes.get_xticklabels():
        label.set_horizontalalignment("right")
    handles = [Patch(facecolor=colour, edgecolor=FAINT, label=verdict) for verdict, colour in VERDICT_COLOURS.items()]
    legend_below(figure, handles, title="p after Holm's correction")
    return figure


def draw_ablation_grid(view: FigureView[GridCell]) -> Figure:
    """Where weights come from, by what follows attention: the loss of every cell of the grid."""
    figure, axes = new_axes(view, width=5.8, height=0.4 + len({cell.row for cell in view.points}))
    for cell, place in _place(axes, view.points):
        if cell.loss is None or cell.rank is None:
            _fill(axes, place, facecolor="white", hatch="///")
            continue
        # The lowest loss is the darkest; never so dark that black text is hard to read.
        _fill(axes, place, facecolor=to_rgba(SHADE, 0.08 + 0.5 * cell.rank))
        size = f"{count_in_words(cell.parameters)} parameters" if cell.parameters else ""
        axes.text(place[0], place[1] - 0.1, show_mean(cell.loss), ha="center", va="center", fontsize=11)
        axes.text(place[0], place[1] + 0.22, f"{cell.name}\n{size}".strip(), ha="center", va="center", fontsize=7.5)
    axes.set_xlabel(f"{view.x_label} (darker: lower loss; hatched: not run)")
    return figure


def draw_depth_steps(view: FigureView[DepthPoint]) -> Figure:
    """Loss against depth steps: of trained weights run at other depths, and of models trained at each depth."""
    figure, axes = new_axes(view, height=4.0)
    handles = []
    ring: dict[str, Any] = {"linestyle": "", "marker": "o", "fillstyle": "none"}
    for title, points in by_title(view.points).items():
        line = "--" if points[0].is_retrained else "-"
        look: dict[str, Any] = {
            "color": colour_of(points[0].kind),
            "marker": mark_of(points[0].kind),
            "linestyle": line,
        }
        reach = [point.loss.half_width or 0.0 for point in points]
        steps, losses = [point.depth_steps for point in points], [point.loss.mean for point in points]
        axes.errorbar(steps, losses, yerr=reach if any(reach) else None, **look, markersize=5, capsize=2, linewidth=1.4)
        handles.append(Line2D([], [], label=title, **look))
        for point in points:
            if point.is_usual and not point.is_retrained:
                axes.plot([point.depth_steps], [point.loss.mean], **ring, markersize=13, color=look["color"])
    if not all(point.is_retrained for point in view.points):
        handles.append(Line2D([], [], label="depth it was trained with", **ring, markersize=11, color="grey"))
    axes.set_xticks(sorted({point.depth_steps for point in view.points}))
    axes.grid(True)
    legend_below(figure, handles)
    return figure


Cell = TypeVar("Cell", PairCell, GridCell)


def _place(axes: Axes, cells: Sequence[Cell]) -> list[tuple[Cell, tuple[int, int]]]:
    """Name the rows and columns of a matrix, and give every cell its column and row."""
    rows, columns = (list(dict.fromkeys(getattr(cell, side) for cell in cells)) for side in ("row", "column"))
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), [textwrap.fill(row, 18) for row in rows])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return [(cell, (columns.index(cell.column), rows.index(cell.row))) for cell in cells]


def _fill(axes: Axes, place: tuple[int, int], **look: Any) -> None:
    edge = FAINT if "hatch" in look else "white"
    axes.add_patch(Rectangle((place[0] - 0.5, place[1] - 0.5), 1, 1, edgecolor=edge, linewidth=2, **look))
