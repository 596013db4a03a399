"""The style of plotly figures on the page: light and dark themes, narrow screens."""

import html
import json
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from gradio.components.plot import PlotData

from app.style import MONO, SANS
from tipshare.kinds import mark_of

# Readable on white and on black. On the page itself `figures.css` puts the theme's own text colour in its place.
TEXT = "#78808C"
GRID = "rgba(128, 128, 128, 0.22)"
CLEAR = "rgba(0, 0, 0, 0)"
MONO_FAMILY = ", ".join(MONO)

# Scales grow from nearly clear, so that they fit a light and a dark page. From orange to blue, which colour-blind
# readers can tell apart; both ends stand out from white and from black.
NEUTRAL = "rgba(128, 128, 128, 0.12)"
ORANGE, BLUE = ("rgba(213, 94, 0, {})", "rgba(30, 120, 190, {})")
# Clear enough for text in the theme's own colour on every shade.
SEQUENTIAL = [[0.0, NEUTRAL], [1.0, BLUE.format(0.55)]]
MOST_OPAQUE = 0.55
# Marks of `tipshare.kinds` by the names that plotly has for them.
SYMBOLS = {"s": "square", "D": "diamond", "o": "circle", "^": "triangle-up", "v": "triangle-down", "X": "x"}
# Marks of further models of a kind in one figure, which have its colour.
VARIANTS = ("star", "pentagon", "hexagram", "bowtie", "cross")

# Panels of the small multiples; models that were added later are left out.
MOST_PANELS = 8
NO_MODEL = "No model is here yet. Load one at the top of the page, by its name on the Hub."


def diverging(low: float, middle: float, high: float) -> list[list[Any]]:
    """A scale from orange at `low` over grey in the `middle` to blue at `high`."""
    place = (middle - low) / (high - low)
    places = (0.0, place / 2, place, (1 + place) / 2, 1.0)
    colours = (ORANGE.format(1), ORANGE.format(0.5), NEUTRAL, BLUE.format(0.5), BLUE.format(1))
    return [list(each) for each in zip(places, colours, strict=True)]


def see_through(colour: str) -> str:
    """A colour such as #56B4E9 for a cell with text in it: nearly the same on white, and as a shade on a dark page."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    # The clearest colour that looks the same on white.
    opacity = 1 - min(red, green, blue) / 255 or 1.0
    clear = [round(255 - (255 - each) / opacity) for each in (red, green, blue)]
    return f"rgba({clear[0]}, {clear[1]}, {clear[2]}, {min(opacity, MOST_OPAQUE):.3f})"


def symbol_of(kind: str, variant: int = 0, *, hollow: bool = False) -> str:
    """The mark of a kind by plotly's name; an x for a mark that has none here.

    Args:
        variant: Number of the model among those of its kind, as of `variants_of`; the first has the kind's own mark.
    """
    mark = VARIANTS[(variant - 1) % len(VARIANTS)] if variant else SYMBOLS.get(mark_of(kind), "x")
    return mark + ("-open" if hollow else "")


def variants_of(kinds: Iterable[Hashable]) -> list[int]:
    """For each of several models, how many of its kind come before it."""
    seen: Counter[Hashable] = Counter()
    found = []
    for kind in kinds:
        found.append(seen[kind])
        seen[kind] += 1
    return found


def new_figure(height: int, *, legend: bool = True) -> go.Figure:
    """An empty figure with a transparent background and its legend above the axes."""
    figure = go.Figure()
    dress(figure, height, legend=legend)
    return figure


def dress(figure: go.Figure, height: int | None, *, legend: bool = True) -> None:
    """Apply the style of the page to a figure; without a height it is as high as its place on the page."""
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


def place_for(label: str, elem_id: str, figure: go.Figure | None = None) -> gr.Plot:
    """Where a figure stands on the page, and what is there at first."""
    value = None if figure is None else for_page(figure, elem_id)
    return gr.Plot(value, label=label, elem_id=elem_id, elem_classes="figure", min_width=320)


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
