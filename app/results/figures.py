"""Views drawn with plotly: lists of models, marks in a plane, matrices."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.plot_style import (
    TEXT,
    new_figure,
    plain,
    see_through,
    symbol_of,
    transparent,
    variants_of,
    words_figure,
    wrap_words,
)
from tipshare.kinds import colour_of
from training.results.formatting import count_in_words
from training.results.views.figure import Cell, FigureView, Mark, front_of, lines_of, rows_and_columns

# Figures side by side are equally high.
LEAST_HEIGHT = 380
DASHES = ("solid", "dash", "dashdot", "dot", "longdash")
SIZES = {"small": 6, "usual": 10, "large": 15}
# More rows than this get no text in their cells, only on hover.
MOST_TEXTS = 8


def draw(view: FigureView[Any]) -> go.Figure:
    """A figure, or in words why there is none."""
    if view.missing:
        return words_figure(view.missing[0].upper() + view.missing[1:] + ".")
    drawings: dict[str, Callable[[FigureView[Any]], go.Figure]] = {"list": _list, "plane": _plane, "matrix": _matrix}
    return drawings[view.form](view)


def _list(view: FigureView[Mark]) -> go.Figure:
    """Models from top to bottom with their values; groups that have an axis of their own under their names."""
    figure = new_figure(LEAST_HEIGHT, legend=False)
    values = [each for mark in view.points for each in (mark.value, mark.low, mark.high) if each is not None]
    low, high = (0.0, max(values) * 1.3) if view.points[0].panel else (min(values), max(values))
    room = 0.0 if view.points[0].panel else (high - low) * 0.08 + 0.01
    ticks: list[str] = []
    panel = ""
    for title, (mean, *seeds) in lines_of(view.points).items():
        if mean.panel != panel:
            panel = mean.panel
            # In lines that a phone has room for.
            _note(figure, low, len(ticks), f"<b>{wrap_words(panel, 30)}</b>", xanchor="left", align="left")
            ticks.append("")
        place = len(ticks)
        _scatter(figure, seeds, [mark.value for mark in seeds], [place + 0.22] * len(seeds), opacity=0.6)
        _scatter(figure, [mean], [mean.value], [place], error_x=_reach([mean]))
        # Towards the middle near either end, so that narrow screens cut nothing off.
        share = (mean.value - low) / (high - low or 1.0)
        anchor = "left" if share < 0.3 else "right" if share > 0.7 else "center"
        _note(figure, mean.value, place, mean.text, xanchor=anchor, yshift=17)
        ticks.append(plain(title).replace(", published", "<br>published"))
    places = list(range(len(ticks)))
    figure.update_yaxes(tickvals=places, ticktext=ticks, range=[len(ticks) - 0.4, -0.6], showgrid=False)
    figure.update_xaxes(title=view.x_label, range=[low - room, high + room])
    figure.update_layout(height=max(LEAST_HEIGHT, 96 + 52 * len(ticks)))
    return figure


def _plane(view: FigureView[Mark]) -> go.Figure:
    """Marks by two numbers, joined by lines where they belong together."""
    lines = lines_of(view.points)
    variants = variants_of((marks[0].kind, marks[0].source) for marks in lines.values())
    figure = new_figure(LEAST_HEIGHT)
    for (title, marks), variant in zip(lines.items(), variants, strict=True):
        first, places = marks[0], [mark.at for mark in marks]
        if view.is_range and first.num_seeds > 1:
            figure.add_scatter(
                x=[*places, *reversed(places)],
                y=[*(mark.high for mark in marks), *(mark.low for mark in reversed(marks))],
                mode="lines",
                fill="toself",
                fillcolor=transparent(colour_of(first.kind), 0.16),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        dash = "dot" if first.is_published else DASHES[(first.line or 0) % len(DASHES)]
        _scatter(
            figure,
            marks,
            places,
            [mark.value for mark in marks],
            variant,
            error_y=None if view.is_range else _reach(marks),
            mode="markers" if first.line is None else "lines+markers" if len(marks) <= 30 else "lines",
            line={"color": colour_of(first.kind), "width": 1.2 if first.is_published else 2, "dash": dash},
            name=plain(title),
        )
    figure.update_xaxes(title=_x_title(view), rangemode="tozero" if view.is_range else "normal")
    figure.update_yaxes(title=view.y_label)
    if view.has_front:
        _front(figure, front_of(view.points))
    if view.is_count:
        _count_axis(figure, [mark.at for mark in view.points])
    return figure


def _front(figure: go.Figure, front: Sequence[Mark]) -> None:
    """The Pareto front as steps, and which corner is the better one."""
    figure.add_scatter(
        x=[mark.at for mark in front],
        y=[mark.value for mark in front],
        mode="lines",
        line={"shape": "hv", "dash": "dash", "width": 1.2, "color": TEXT},
        name="Pareto front",
        hoverinfo="skip",
    )
    corner = {"x": 0.01, "y": 0.02, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    figure.add_annotation(text="\N{SOUTH WEST ARROW} better", showarrow=False, font={"size": 12}, **corner)


def _matrix(view: FigureView[Cell]) -> go.Figure:
    """Cells with texts, on the colours that the view gives them."""
    rows, columns = rows_and_columns(view.points)
    cells = {(cell.row, cell.column): cell for cell in view.points}
    colours = sorted({cell.colour for cell in view.points if cell.colour})
    colours += colours if len(colours) == 1 else []  # a scale has two ends

    def laid_out(value: Callable[[Cell], Any], otherwise: Any = "") -> list[list[Any]]:
        return [[value(cells[row, at]) if (row, at) in cells else otherwise for at in columns] for row in rows]

    def text(cell: Cell) -> str:
        # Cells are narrow on a phone.
        first, *others = (wrap_words(each, 13) for each in cell.lines or ("",))
        return "<br>".join([f"<b>{first}</b>", *others]) if len(rows) <= MOST_TEXTS else ""

    figure = new_figure(max(360, 130 + 66 * len(rows)), legend=False)
    figure.add_heatmap(
        z=laid_out(lambda cell: colours.index(cell.colour) if cell.colour else None, None),
        x=[wrap_words(each, 8) for each in columns],
        y=[wrap_words(each, 16) for each in rows],
        text=laid_out(text),
        customdata=laid_out(lambda cell: wrap_words(cell.words or ", ".join(cell.lines), 56)),
        texttemplate="%{text}",
        textfont={"size": 11},
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        # A scale that has every colour at the place of its number.
        colorscale=[[place / (len(colours) - 1), see_through(each)] for place, each in enumerate(colours)],
        zmin=0,
        zmax=len(colours) - 1,
        xgap=3,
        ygap=3,
        showscale=False,
    )
    figure.update_xaxes(type="category", showgrid=False, tickangle=0, tickfont={"size": 10}, title=_x_title(view, 24))
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed", title=view.y_label)
    return figure


def _scatter(
    figure: go.Figure, marks: Sequence[Mark], x: list[float], y: list[float], variant: int = 0, **looks: Any
) -> None:
    """Marks of one model: filled for what was measured here, hollow for what was published."""
    if not marks:
        return
    first = marks[0]
    marker = {
        "color": colour_of(first.kind),
        "size": [SIZES[mark.size] for mark in marks],
        "symbol": symbol_of(first.kind, variant, hollow=first.is_published),
        "line": {"width": 2 if first.is_published else 0},
        "opacity": looks.pop("opacity", 1.0),
    }
    texts = [plain(mark.text or f"{mark.value:.4f}") for mark in marks]
    if first.seed is not None:
        texts = [f"seed {mark.seed}: {text}" for mark, text in zip(marks, texts, strict=True)]
    figure.add_scatter(
        x=x,
        y=y,
        marker=marker,
        customdata=texts,
        hovertemplate=f"{plain(first.title)}, %{{x}}: %{{customdata}}<extra></extra>",
        **{"mode": "markers", **looks},
    )


def _reach(marks: Sequence[Mark]) -> dict[str, Any] | None:
    """The intervals of marks, where those are known."""
    reach = [0.0 if mark.low is None or mark.high is None else (mark.high - mark.low) / 2 for mark in marks]
    return {"type": "data", "array": reach, "thickness": 2, "width": 5} if any(reach) else None


def _note(figure: go.Figure, x: float, y: float, text: str, **place: Any) -> None:
    figure.add_annotation(x=x, y=y, text=text, showarrow=False, font={"size": 11}, **place)


def _count_axis(figure: go.Figure, counts: Sequence[float]) -> None:
    """Counts of parameters on a logarithmic axis."""
    low, high = np.log10(min(counts)) - 0.2, np.log10(max(counts)) + 0.2
    ticks = [size * 10**power for power in range(3, 10) for size in (1, 2, 5)]
    # Few marks on a wide range, more on a narrow one.
    ticks = [each for each in ticks if low <= np.log10(each) <= high and (high - low < 2.4 or str(each)[0] == "1")]
    texts = [count_in_words(each) for each in ticks]
    figure.update_xaxes(type="log", range=[low, high], tickvals=ticks, ticktext=texts)


def _x_title(view: FigureView[Any], width: int = 44) -> str:
    """What the axis is, in lines of some width; and where it matters the name of the runs, a line for every change."""
    runs = f"<br>({plain(view.runs).replace('+', '<br>+ ')})" if view.names_runs else ""
    return wrap_words(view.x_label, width) + runs
