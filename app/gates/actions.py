"""The actions of the Gates tab, as functions of a shelf and the names chosen on the page."""

import html
from dataclasses import dataclass

import plotly.graph_objects as go

from app.controls import text
from app.gates.arrays import DepthViews
from app.gates.depth_figures import draw_norms, draw_path, draw_predictions, draw_similarity
from app.gates.figures import ORDERS, Looked, draw_at_depth, draw_curves, draw_distributions, draw_heat_map
from app.gates.words import gates_in_words, path_in_words, scales_in_words, similarity_in_words, what_is_shown
from app.places import NAMES
from app.plot_style import MOST_PANELS, NO_MODEL, words_figure
from app.shelf import ModelShelf, ViewCache
from app.style import finding
from tipshare.analysis import hidden_path

LONGEST_PROMPT = 10_000


@dataclass(frozen=True)
class GateViews:
    """The figures of one gated place; the choices of places and of orders, and which is shown."""

    names: tuple[str, ...]
    name: str
    orders: dict[str, str]
    order: str
    words: str
    heat_map: go.Figure
    curves: go.Figure
    distributions: go.Figure


class GateActions:
    """The views of the models on a shelf."""

    def __init__(self, shelf: ModelShelf, cache: ViewCache[DepthViews] | None = None) -> None:
        self._shelf = shelf
        self._cache = cache or ViewCache(DepthViews)

    def of(self, visitor: str | None) -> "GateActions":
        """The same actions with the models that a visitor sees."""
        return GateActions(self._shelf.of(visitor), self._cache)

    def default(self) -> str | None:
        """The model to begin with: the first one with gates."""
        gated = [each.name for each in self._shelf.listings() if each.config.weights == "gated"]
        return next(iter([*gated, *self._shelf.names()]), None)

    def views(self, model: str | None, other: str | None, name: str | None, order: str, colour: str) -> GateViews:
        """Heat map, curves and distributions of one place, of one model or of two."""
        looked = self._look(model, other)
        if not looked:
            nothing = words_figure(NO_MODEL)
            return GateViews(tuple(NAMES), name or "up", ORDERS, order, finding(NO_MODEL), nothing, nothing, nothing)
        names = tuple(each for each in NAMES if any(each in views.units.names for _, views in looked))
        # A place that the first model does not have may exist in the other.
        name = name if name in names else looked[0][1].units.names[0]
        # The mean of a norm relative to its own mean is 1 for every unit: to sort by it says nothing.
        has_gates = any(views.units.are_gates for _, views in looked)
        orders = {title: value for title, value in ORDERS.items() if value != "value" or has_gates}
        if order == "value" and order not in orders.values():
            order = "change"
        told = [what_is_shown(entry, views.units) for entry, views in looked]
        told += [gates_in_words(entry, views.units, name) for entry, views in looked]
        told += scales_in_words([views.units for _, views in looked], colour)
        return GateViews(
            names=names,
            name=name,
            orders=orders,
            order=order,
            words=finding(*told),
            heat_map=draw_heat_map(looked, name, order, colour),
            curves=draw_curves(looked, name),
            distributions=draw_distributions(looked, name),
        )

    def at_depth(self, model: str | None, other: str | None, t: float) -> go.Figure:
        """All places at one depth."""
        looked = self._look(model, other)
        return draw_at_depth([(entry, views.at(t)) for entry, views in looked]) if looked else _nothing()

    def weights(self, name: str | None) -> tuple[str, go.Figure, go.Figure]:
        """Similarity between depths and norms along depth, of all models."""
        if name is not None and name not in NAMES:
            raise ValueError(f"no weight is called {name!r}; the names are {', '.join(NAMES)}")
        looked: Looked = []
        unread = []
        for each in self._shelf.names()[:MOST_PANELS]:
            try:
                looked += self._look(each, None)
            except ValueError:
                # One damaged checkpoint must not hide the others.
                unread.append(f"{html.escape(each)} cannot be read.")
        if not looked:
            return finding(NO_MODEL, *unread), _nothing(), _nothing()
        words = similarity_in_words([entry for entry, _ in looked], [views for _, views in looked], name)
        return finding(words, *unread), draw_similarity(looked, name), draw_norms(looked, name)

    def follow(self, model: str | None, other: str | None, prompt: str) -> tuple[str, go.Figure, go.Figure]:
        """A prompt along depth: predictions at every depth, and the hidden state's norm and steps."""
        prompt = text("prompt", prompt)
        if len(prompt) > LONGEST_PROMPT:
            raise ValueError(
                f"the prompt has {len(prompt):,} characters; give at most {LONGEST_PROMPT:,}: a model reads only the "
                "end of a long text"
            )
        looked = self._look(model, other)
        if not looked:
            return finding(NO_MODEL), _nothing(), _nothing()
        paths = [(entry, hidden_path(entry.model, prompt)) for entry, _ in looked]
        words = finding(*(path_in_words(entry, path) for entry, path in paths))
        return words, draw_predictions(paths), draw_path(paths)

    def _look(self, *names: str | None) -> Looked:
        wanted = list(dict.fromkeys(name for name in names if name))
        entries = [self._shelf.get(name) for name in wanted]
        return [(entry, self._cache.of(entry)) for entry in entries]


def _nothing() -> go.Figure:
    return words_figure(NO_MODEL)
