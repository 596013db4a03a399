"""The actions of the Dynamics tab, as functions of a shelf and what is chosen on the page."""

import html
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.dynamics.arrays import TextViews, WeightViews
from app.dynamics.figures import (
    Looked,
    draw_alignment,
    draw_eigenvalues,
    draw_lens,
    draw_magnitudes,
    draw_updates,
)
from app.dynamics.settings import Choice, check_text
from app.dynamics.tinted import tint_bytes
from app.errors import in_words
from app.plot_style import MOST_PANELS, NO_MODEL, words_figure
from app.shelf import Entry, ModelShelf, ViewCache
from app.style import finding, findings
from tipshare.analysis.inspection import (
    lens_in_words,
    poles_in_words,
    sensitivity_in_words,
    spectra_in_words,
    stream_in_words,
)

WIDEST = 1_024


@dataclass(frozen=True)
class SpectraViews:
    """Eigenvalues of all models at one depth, and their magnitude along depth."""

    words: str
    eigenvalues: go.Figure
    magnitudes: go.Figure


@dataclass(frozen=True)
class SensedViews:
    """A text tinted by what one prediction depends on."""

    place: int
    text: str
    words: str


@dataclass(frozen=True)
class TextFigures:
    """Lens, updates and similarity of depths for one text."""

    lens_words: str
    lens: go.Figure
    stream_words: str
    updates: go.Figure
    alignment: go.Figure


class DynamicsActions:
    """The views of the models on a shelf."""

    def __init__(
        self,
        shelf: ModelShelf,
        weights: ViewCache[WeightViews] | None = None,
        texts: ViewCache[TextViews] | None = None,
    ) -> None:
        self._shelf = shelf
        self._weights = weights or ViewCache(WeightViews)
        self._texts = texts or ViewCache(TextViews)

    def of(self, visitor: str | None) -> "DynamicsActions":
        """The same actions with the models that a visitor sees."""
        return DynamicsActions(self._shelf.of(visitor), self._weights, self._texts)

    def spectra(self, product: str, t: float) -> SpectraViews:
        """One product of weights, of all models that have it."""
        choice = Choice(product=product, t=t)
        looked: Looked = []
        told = []
        for name in self._shelf.names()[:MOST_PANELS]:
            try:
                entry = self._get(name)
                views = self._weights.of(entry)
                has = product in views.spectra
            except ValueError as error:
                # One damaged checkpoint must not hide the others.
                told.append(f"{html.escape(name)} cannot be shown: {html.escape(in_words(error))}")
                continue
            if has:
                looked.append((entry, views))
                told.append(f"{_title(entry)} {html.escape(spectra_in_words(product, views.spectra[product]))}")
            else:
                told.append(f"{_title(entry)} has no {product}: its mixer is a state space.")
        if not told:
            return SpectraViews(finding(NO_MODEL), words_figure(NO_MODEL), words_figure(NO_MODEL))
        found = [(entry, views.at(product, choice.t)) for entry, views in looked]
        return SpectraViews(findings(told), draw_eigenvalues(found), draw_magnitudes(looked, product))

    def sensed(self, model: str | None, text: str, place: Any) -> SensedViews:
        """What the prediction after one byte depends on; place may be None for the last."""
        entry, views = self._read(model, text)
        sensed = views.sensitivity(place)
        left_out = ""
        if sensed.unread:
            left_out = f" The first {sensed.unread} bytes did not fit into the context."
        words = f"{_title(entry)} {html.escape(sensitivity_in_words(sensed))}{left_out}"
        return SensedViews(sensed.place, tint_bytes(views.lens.ids, sensed), finding(words))

    def look(self, model: str | None, text: str) -> tuple[Entry, WeightViews, TextViews]:
        """A model with the arrays of its weights and of a text."""
        entry, views = self._read(model, text)
        return entry, self._weights.of(entry), views

    def figures(self, model: str | None, text: str, shown: str) -> TextFigures:
        """Lens and stream of a text."""
        choice = Choice(shown=shown)
        entry, views = self._read(model, text)
        stream = [stream_in_words(views.stream)]
        if views.poles is not None:
            stream.append(poles_in_words(views.poles))
        return TextFigures(
            lens_words=finding(f"{_title(entry)} {html.escape(lens_in_words(views.lens))}"),
            lens=draw_lens(views.lens, choice.shown),
            stream_words=finding(f"{_title(entry)} {html.escape(' '.join(stream))}"),
            updates=draw_updates(entry, views.stream),
            alignment=draw_alignment(views.stream),
        )

    def _read(self, model: str | None, text: str) -> tuple[Entry, TextViews]:
        if not model:
            raise ValueError(NO_MODEL)
        entry = self._get(model)
        return entry, self._texts.of(entry, check_text(text))

    def _get(self, name: str) -> Entry:
        width = self._shelf.describe(name).config.hidden_dim
        if width > WIDEST:
            raise ValueError(
                f"{name} is {width:,} wide; this tab shows models of up to {WIDEST:,}, since the cost grows with the "
                "cube of the width. In a terminal, tipshare inspect takes any"
            )
        return self._shelf.get(name)


def _title(entry: Entry) -> str:
    return f"<em>{html.escape(entry.label)}</em>:"
