"""What a tab has worked out of a model and keeps for the next visitor, without keeping the model."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from app.shelf.listing import Entry
from tipshare.model.language_model import LanguageModel

# Views of one sort that are kept: those of a default model take about a megabyte, those of a text of 256 bytes two.
MOST_KEPT = 16


class ViewsOfModel:
    """Arrays of one model, which stays in memory only as long as the shelf or a request has it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = weakref.ref(model)

    @property
    def model(self) -> LanguageModel:
        """The model; ValueError once it was dropped."""
        model = self._model()
        if model is None:
            raise ValueError("this model was dropped to make room for others: load it again")
        return model

    def is_of(self, model: LanguageModel) -> bool:
        """Whether these are of that very model, not of an earlier one of the same name."""
        return self._model() is model


Views = TypeVar("Views", bound=ViewsOfModel)


class ViewCache(Generic[Views]):
    """The views of one sort that were used last; safe to share between threads."""

    def __init__(self, make: Callable[..., Views]) -> None:
        """Nothing is kept yet; `make` takes a model, and what more `of` is given."""
        self._make = make
        self._kept: OrderedDict[Hashable, Views] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, entry: Entry, *more: Hashable) -> Views:
        """The views of a model, and of a text if one is given; those of another model of that name are dropped."""
        with self._guard:
            views = self._kept.pop((entry.name, *more), None)
            if views is None or not views.is_of(entry.model):
                views = self._make(entry.model, *more)
            self._kept[entry.name, *more] = views
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return views
