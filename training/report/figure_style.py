"""How the figures of a report look."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from training.results.views.figure import FigureView

INK = "#1F2937"
FAINT = "#D1D5DB"
WIDTH = 6.4
# Of the legend, at its font size; a key takes the room of some letters too.
LETTERS_PER_INCH = 14.5
LETTERS_PER_KEY = 8
TITLE_LETTERS_PER_INCH = 10.5

STYLE: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so figures look the same everywhere
    "font.size": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "pdf.fonttype": 42,  # real fonts, which publishers ask for
}


def new_panels(
    view: FigureView[Any], height: float, shape: tuple[int, int], *, width: float = WIDTH, **how: Any
) -> tuple[Figure, list[Axes]]:
    """An empty figure of several axes under a title; made without pyplot, so that it belongs to no window."""
    figure = Figure(figsize=(width, height), layout="constrained")
    # In as many lines as it needs: names of changed recipes are long.
    letters = int(width * TITLE_LETTERS_PER_INCH)
    title = textwrap.fill(f"{view.title}, {view.runs}", letters, break_on_hyphens=False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure, list(figure.subplots(*shape, squeeze=False, **how).flat)


def new_axes(view: FigureView[Any], *, height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    """An empty figure with one set of axes and the labels of a view."""
    figure, (axes,) = new_panels(view, height, (1, 1), width=width)
    axes.set_xlabel(view.x_label)
    axes.set_ylabel(view.y_label)
    return figure, axes


def legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """A legend under the axes, where it covers nothing, with as many columns as fit."""
    if not handles:
        return
    longest = max(len(str(each.get_label())) for each in handles)
    columns = max(1, int(figure.get_figwidth() * LETTERS_PER_INCH / (longest + LETTERS_PER_KEY)))
    # Full rows: five entries in four columns would leave a row of one.
    columns = math.ceil(len(handles) / math.ceil(len(handles) / columns))
    figure.legend(handles=list(handles), loc="outside lower center", ncols=columns, handlelength=2.6)
