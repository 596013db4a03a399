"""Drawings of comparisons: every pair of models, weight sources by mixers, the number of depth steps."""

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from tipshare.kinds import colour_of, mark_of
from training.report.figure_style import FAINT, full_title, legend_below, new_axes
from training.results.formatting import count_in_words, show_mean, show_p
from training.results.views.ablations import GridCell
from training.results.views.comparisons import VERDICT_COLOURS, PairCell
from training.results.views.depths import DepthLine
from training.results.views.figure import FigureView

MEANINGS = {"lower": "row lower, p < 0.05", "open": "not significant", "higher": "row higher, p < 0.05"}
SHADE = "#0072B2"


def draw_significance(view: FigureView[PairCell]) -> Figure:
    """Every pair of models: difference and corrected p-value."""
    count = len(view.columns)
    figure, axes = new_axes(full_title(view), width=max(4.8, 2.4 + 0.95 * count), height=2.0 + 0.7 * count)
    for cell in view.points:
        row, column = view.rows.index(cell.row), view.columns.index(cell.column)
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, facecolor=VERDICT_COLOURS[cell.verdict], edgecolor="white"))
        p_value = f"p = {show_p(cell.p_value)}" if cell.p_value is not None else "no test"
        axes.text(column, row, f"{cell.difference:+.3f}\n{p_value}", ha="center", va="center", fontsize=8)
    _name_cells(axes, view.rows, view.columns)
    axes.set_xticks(range(count), view.columns, rotation=30, ha="right")
    handles = [
        Patch(facecolor=colour, edgecolor=FAINT, label=MEANINGS[verdict]) for verdict, colour in VERDICT_COLOURS.items()
    ]
    legend_below(figure, handles, title="p after Holm's correction")
    return figure


def draw_ablation_grid(view: FigureView[GridCell]) -> Figure:
    """Where weights come from, by what follows attention: the loss of every cell of the grid."""
    figure, axes = new_axes(full_title(view), width=5.8, height=0.4 + len(view.rows))
    cells = {(cell.row, cell.column): cell for cell in view.points}
    for row, row_name in enumerate(view.rows):
        for column, column_name in enumerate(view.columns):
            corner = (column - 0.5, row - 0.5)
            cell = cells.get((row_name, column_name))
            if cell is None:
                axes.add_patch(Rectangle(corner, 1, 1, facecolor="white", edgecolor=FAINT, hatch="///"))
                continue
            # The lowest loss is the darkest; never so dark that black text is hard to read.
            shade = to_rgba(SHADE, 0.08 + 0.5 * cell.rank)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=shade, edgecolor="white", linewidth=2))
            size = f"{count_in_words(cell.parameters)} parameters" if cell.parameters else ""
            axes.text(column, row - 0.1, show_mean(cell.loss), ha="center", va="center", fontsize=11)
            axes.text(column, row + 0.22, f"{cell.name}\n{size}".strip(), ha="center", va="center", fontsize=7.5)
    _name_cells(axes, [textwrap.fill(name, 18) for name in view.rows], view.columns)
    axes.set_xlabel(f"{view.x_label} (darker: lower loss; hatched: not run)")
    axes.set_ylabel(view.y_label)
    return figure


def _name_cells(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def draw_depth_steps(view: FigureView[DepthLine]) -> Figure:
    """Loss against depth steps: of trained weights run at other depths, and of models trained at each depth."""
    figure, axes = new_axes(full_title(view), height=4.0)
    handles = []
    for line in view.points:
        colour, style = colour_of(line.kind), "--" if line.is_retrained else "-"
        reach = [point.loss.half_width or 0.0 for point in line.points]
        axes.errorbar(
            [point.steps for point in line.points],
            [point.loss.mean for point in line.points],
            yerr=reach if any(reach) else None,
            color=colour,
            marker=mark_of(line.kind),
            markersize=5,
            linestyle=style,
            capsize=2,
            linewidth=1.4,
        )
        handles.append(Line2D([], [], color=colour, marker=mark_of(line.kind), linestyle=style, label=line.title))
        for point in line.points if not line.is_retrained else ():
            if point.is_trained:
                axes.plot([point.steps], [point.loss.mean], "o", markersize=13, color=colour, fillstyle="none")
    if not all(line.is_retrained for line in view.points):
        ring = {"linestyle": "", "marker": "o", "markersize": 11, "color": "grey", "fillstyle": "none"}
        handles.append(Line2D([], [], label="depth it was trained with", **ring))
    axes.set_xticks(sorted({point.steps for line in view.points for point in line.points}))
    axes.grid(True)
    axes.set_xlabel(view.x_label)
    axes.set_ylabel(view.y_label)
    legend_below(figure, handles)
    return figure
