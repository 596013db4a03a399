"""The style of plotly figures on the page: light and dark themes, narrow screens."""

import html
import json
from typing import Any

import plotly.graph_objects as go
from gradio.components.plot import PlotData

from app.style import MONO, SANS
from tipshare.kinds import mark_of

# Readable on white and on black. On the page itself `figures.css` puts the theme's own text colour in its place.
TEXT = "#78808C"
GRID = "rgba(128, 128, 128, 0.22)"
CLEAR = "rgba(0, 0, 0, 0)"
MONO_FAMILY = ", ".join(MONO)

# From orange through light grey to blue, which colour-blind readers can tell apart.
DIVERGING = [[0.0, "#B34700"], [0.25, "#F0A878"], [0.5, "#F3F4F6"], [0.75, "#7FB8DB"], [1.0, "#005A8F"]]
# Light enough for dark text on every colour.
SEQUENTIAL = [[0.0, "#F3F4F6"], [0.5, "#A5D1EC"], [1.0, "#4BA3D6"]]
DARK_TEXT = "#1F2937"
# Marks of `tipshare.kinds` by the names that plotly has for them.
SYMBOLS = {"s": "square", "D": "diamond", "o": "circle", "^": "triangle-up", "v": "triangle-down", "X": "x"}


def symbol_of(kind: str, *, hollow: bool = False) -> str:
    """The mark of a kind by plotly's name; a cross for a mark that has none here."""
    return SYMBOLS.get(mark_of(kind), "x") + ("-open" if hollow else "")


def new_figure(height: int, *, legend: bool = True) -> go.Figure:
    """An empty figure with a transparent background and its legend above the axes."""
    figure = go.Figure()
    dress(figure, height, legend=legend)
    return figure


def dress(figure: go.Figure, height: int, *, legend: bool = True) -> None:
    """Apply the style of the page to a figure."""
    figure.update_layout(
        # Plotly's default template has a background.
        template=go.layout.Template(),
        height=height,
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"family": ", ".join(SANS), "size": 12, "color": TEXT},
        margin={"l": 8, "r": 12, "t": 30, "b": 8},
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom", "bgcolor": CLEAR},
        hoverlabel={"font": {"family": ", ".join(SANS)}, "namelength": -1},
        modebar={"bgcolor": CLEAR, "color": TEXT, "activecolor": "#4F46E5"},
        dragmode=False,
    )
    axis: dict[str, Any] = {
        "gridcolor": GRID,
        "linecolor": GRID,
        "zeroline": False,
        "automargin": True,
        "title": {"standoff": 8},
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    # Titles of panels; plotly's default is the size of a figure's title.
    figure.update_annotations(font={"size": 13})


def colour_bar(**changes: Any) -> dict[str, Any]:
    """A horizontal colour bar along the lower edge, which takes no width from narrow screens."""
    bar: dict[str, Any] = {"orientation": "h", "thickness": 10, "len": 0.9, "outlinewidth": 0, "nticks": 5}
    return {**bar, "y": 0, "yref": "container", "yanchor": "bottom", **changes}


def words_figure(words: str, *, height: int = 200) -> go.Figure:
    """A figure with a message instead of data."""
    figure = new_figure(height, legend=False)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.add_annotation(text=wrap_words(words), x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    return figure


def for_page(figure: go.Figure, name: str) -> PlotData:
    """A figure as Gradio takes it, with the file name for downloads of its picture."""
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["lasso2d", "select2d"],
        "toImageButtonOptions": {"filename": name, "scale": 2},
    }
    return PlotData(type="plotly", plot=f'{(figure.to_json() or "")[:-1]}, "config": {json.dumps(config)}}}')


def plain(text: str) -> str:
    """A text with its HTML escaped, because plotly interprets tags in labels."""
    return html.escape(text, quote=False)


def wrap_words(text: str, width: int = 46) -> str:
    """A text, escaped, in lines of at most `width` characters."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "<br>".join(plain(each) for each in [*lines, line])


def transparent(colour: str, share: float) -> str:
    """A colour such as #0072B2 at an opacity of `share`."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {share})"
