"""Figures of comparisons: every pair of models, weight sources by mixers, the number of depth steps."""

from typing import Any

import plotly.graph_objects as go

from app.plot_style import DARK_TEXT, SEQUENTIAL, new_figure, plain, symbol_of, wrap_words
from tipshare.kinds import colour_of
from training.results.formatting import count_in_words, show_mean, show_p
from training.results.views.ablations import GridCell
from training.results.views.comparisons import VERDICT_COLOURS, PairCell
from training.results.views.depths import DepthLine
from training.results.views.figure import FigureView

# More models than this get no text in their cells, only on hover.
MOST_LABELS = 9
# The colour scale of the matrix has three steps, one for each verdict.
PLACES = {verdict: place for place, verdict in enumerate(VERDICT_COLOURS, start=-1)}
VERDICT_SCALE = [
    [end / 3, colour] for place, colour in enumerate(VERDICT_COLOURS.values()) for end in (place, place + 1)
]


def draw_significance(view: FigureView[PairCell]) -> go.Figure:
    """Row minus column for every pair of models, with the corrected p-value and the effect size."""
    has_texts = len(view.rows) < MOST_LABELS
    figure = new_figure(130 + 66 * len(view.rows), legend=False)
    _add_matrix(
        figure,
        view,
        {(cell.row, cell.column): PLACES[cell.verdict] for cell in view.points},
        {(cell.row, cell.column): _pair_text(cell) if has_texts else "" for cell in view.points},
        customdata=_matrix(view, {(cell.row, cell.column): wrap_words(cell.words, 56) for cell in view.points}, ""),
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=VERDICT_SCALE,
        zmin=-1,
        zmax=1,
    )
    figure.update_xaxes(tickangle=0, tickfont={"size": 10})
    return figure


def draw_ablation_grid(view: FigureView[GridCell]) -> go.Figure:
    """The loss by where weights come from and what follows attention."""
    figure = new_figure(max(360, 120 + 60 * len(view.rows)), legend=False)
    _add_matrix(
        figure,
        view,
        {(cell.row, cell.column): cell.rank for cell in view.points},
        {(cell.row, cell.column): _grid_text(cell) for cell in view.points},
        hoverinfo="text",
        colorscale=SEQUENTIAL,
    )
    figure.update_xaxes(title=f"{view.x_label}<br>{_runs(view)}")
    figure.update_yaxes(title=view.y_label)
    return figure


def draw_depth_steps(view: FigureView[DepthLine]) -> go.Figure:
    """Loss against depth steps: trained weights run at other depths, and models trained at each depth."""
    figure = new_figure(360)
    for line in view.points:
        reach = [point.loss.half_width or 0.0 for point in line.points]
        sizes = [14 if point.is_trained and not line.is_retrained else 8 for point in line.points]
        figure.add_scatter(
            x=[point.steps for point in line.points],
            y=[point.loss.mean for point in line.points],
            error_y={"type": "data", "array": reach} if any(reach) else None,
            mode="lines+markers",
            line={"color": colour_of(line.kind), "width": 2, "dash": "dash" if line.is_retrained else "solid"},
            marker={"size": sizes, "symbol": symbol_of(line.kind)},
            name=plain(line.title),
            hovertemplate="%{x} depth steps: %{y:.3f}<extra></extra>",
        )
    figure.update_xaxes(title=f"{view.x_label} (larger mark: as trained)<br>{_runs(view)}")
    figure.update_yaxes(title=view.y_label)
    return figure


def _add_matrix(figure: go.Figure, view: FigureView[Any], colours: dict, texts: dict, **looks: Any) -> None:
    """Coloured cells with texts, by row and column; cells without an entry stay empty."""
    figure.add_heatmap(
        z=_matrix(view, colours, None),
        x=[wrap_words(each, 8) for each in view.columns],
        y=[wrap_words(each, 16) for each in view.rows],
        text=_matrix(view, texts, ""),
        texttemplate="%{text}",
        textfont={"color": DARK_TEXT, "size": 11},
        hoverongaps=False,
        xgap=3,
        ygap=3,
        showscale=False,
        **looks,
    )
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed")


def _matrix(view: FigureView[Any], cells: dict[tuple[str, str], Any], otherwise: Any) -> list[list[Any]]:
    return [[cells.get((row, column), otherwise) for column in view.columns] for row in view.rows]


def _runs(view: FigureView[Any]) -> str:
    """The name of the runs under a figure, a line for every change of a recipe."""
    return f"({plain(view.runs).replace('+', '<br>+ ')})"


def _pair_text(cell: PairCell) -> str:
    tested = f"p {show_p(cell.p_value)}" if cell.p_value is not None else "no test"
    size = f"<br>g {cell.hedges_g:+.1f}" if cell.hedges_g is not None else ""
    return f"<b>{cell.difference:+.3f}</b><br>{tested}{size}"


def _grid_text(cell: GridCell) -> str:
    mean, *reach = show_mean(cell.loss).partition(" ")
    size = f"{count_in_words(cell.parameters)} parameters" if cell.parameters else ""
    return "<br>".join(each for each in (f"<b>{mean}</b>{''.join(reach)}", plain(cell.name), size) if each)
