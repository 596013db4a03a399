"""Figures of comparisons: every pair of models, weight sources by mixers, the number of depth steps."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.plot_style import DARK_TEXT, SEQUENTIAL, new_figure, plain, symbol_of, wrap_words
from tipshare.kinds import colour_of
from training.results.formatting import count_in_words, show_mean, show_p
from training.results.views.ablations import GridCell
from training.results.views.comparisons import VERDICT_COLOURS, PairCell
from training.results.views.depths import DepthPoint
from training.results.views.figure import FigureView, by_title

# More models than this get no text in their cells, only on hover.
MOST_LABELS = 9
# The colour scale of the matrix has three steps, one for each verdict.
PLACES = {verdict: place for place, verdict in enumerate(VERDICT_COLOURS, start=-1)}
VERDICT_SCALE = [
    [end / 3, colour] for place, colour in enumerate(VERDICT_COLOURS.values()) for end in (place, place + 1)
]


def draw_significance(view: FigureView[PairCell]) -> go.Figure:
    """Row minus column for every pair of models, with the corrected p-value and the effect size."""
    count = len({cell.row for cell in view.points})
    figure = _matrix(
        view.points,
        [PLACES[cell.verdict] for cell in view.points],
        [_pair_text(cell) if count < MOST_LABELS else "" for cell in view.points],
        [wrap_words(cell.words, 56) for cell in view.points],
        height=130 + 66 * count,
        colorscale=VERDICT_SCALE,
        zmin=-1,
        zmax=1,
    )
    figure.update_xaxes(tickangle=0, tickfont={"size": 10})
    return figure


def draw_ablation_grid(view: FigureView[GridCell]) -> go.Figure:
    """The loss by where weights come from and what follows attention."""
    texts = [_grid_text(cell) for cell in view.points]
    ranks = [cell.rank for cell in view.points]
    figure = _matrix(view.points, ranks, texts, texts, height=360, colorscale=SEQUENTIAL)
    figure.update_xaxes(title=f"{view.x_label}<br>{_runs(view)}")
    figure.update_yaxes(title=view.y_label)
    return figure


def draw_depth_steps(view: FigureView[DepthPoint]) -> go.Figure:
    """Loss against depth steps: trained weights run at other depths, and models trained at each depth."""
    figure = new_figure(360)
    for title, points in by_title(view.points).items():
        reach = [point.loss.half_width or 0.0 for point in points]
        kind, dash = points[0].kind, "dash" if points[0].is_retrained else "solid"
        sizes = [14 if point.is_usual and not point.is_retrained else 8 for point in points]
        figure.add_scatter(
            x=[point.depth_steps for point in points],
            y=[point.loss.mean for point in points],
            error_y={"type": "data", "array": reach} if any(reach) else None,
            mode="lines+markers",
            line={"color": colour_of(kind), "width": 2, "dash": dash},
            marker={"size": sizes, "symbol": symbol_of(kind)},
            name=plain(title),
            hovertemplate="%{x} depth steps: %{y:.3f}<extra></extra>",
        )
    figure.update_xaxes(title=f"{view.x_label} (larger mark: as trained)<br>{_runs(view)}")
    figure.update_yaxes(title=view.y_label)
    return figure


def _matrix(
    cells: Sequence[PairCell | GridCell],
    colours: Sequence[float | None],
    texts: Sequence[str],
    hovers: Sequence[str],
    height: int,
    **scale: Any,
) -> go.Figure:
    """Coloured cells with texts, by row and column."""
    rows, columns = (list(dict.fromkeys(getattr(cell, side) for cell in cells)) for side in ("row", "column"))

    def laid_out(values: Sequence[Any]) -> list[list[Any]]:
        by_place = {(cell.row, cell.column): value for cell, value in zip(cells, values, strict=True)}
        return [[by_place.get((row, column)) for column in columns] for row in rows]

    figure = new_figure(height, legend=False)
    figure.add_heatmap(
        z=laid_out(colours),
        x=[wrap_words(each, 8) for each in columns],
        y=[wrap_words(each, 16) for each in rows],
        text=laid_out(texts),
        customdata=laid_out(hovers),
        texttemplate="%{text}",
        textfont={"color": DARK_TEXT, "size": 11},
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        xgap=3,
        ygap=3,
        showscale=False,
        **scale,
    )
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed")
    return figure


def _runs(view: FigureView[Any]) -> str:
    """The name of the runs under a figure, a line for every change of a recipe."""
    return f"({plain(view.runs).replace('+', '<br>+ ')})"


def _pair_text(cell: PairCell) -> str:
    tested = f"p {show_p(cell.p_value)}" if cell.p_value is not None else "no test"
    size = f"<br>g {cell.hedges_g:+.1f}" if cell.hedges_g is not None else ""
    return f"<b>{cell.difference:+.3f}</b><br>{tested}{size}"


def _grid_text(cell: GridCell) -> str:
    if cell.loss is None:
        return ""
    mean, space, reach = show_mean(cell.loss).partition(" ")
    size = f"{count_in_words(cell.parameters)} parameters" if cell.parameters else ""
    return "<br>".join(each for each in (f"<b>{mean}</b>{space}{reach}", plain(cell.name), size) if each)
