"""The arrays behind the Gates tab, computed once per model and cached."""

import threading
from collections import OrderedDict
from functools import cached_property

import numpy as np

from app.shelf import Entry
from tipshare import analysis
from tipshare.model.language_model import LanguageModel

# Models whose arrays are kept; a default one takes about a megabyte.
MOST_KEPT = 16

# Places that gates act on, as readers see them.
NAMES = {
    "attention_in": "attention in",
    "attention_out": "attention out",
    "up": "up",
    "down": "down",
    "A": "A (decay)",
    "B": "B (into the state)",
    "C": "C (out of the state)",
    "D": "D (skip)",
    "delta": "delta (step size)",
}


class DepthViews:
    """The arrays of one model; each is computed when it is first asked for."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model

    @cached_property
    def units(self) -> analysis.UnitValues:
        """Gates or norms of weights at the model's depth steps."""
        return analysis.unit_values(self.model)

    @cached_property
    def curve(self) -> analysis.UnitValues:
        """The same over continuous t, if the model is defined there."""
        return analysis.continuous_units(self.model)

    @cached_property
    def products(self) -> analysis.WeightProducts:
        """Similarities and norms of the effective weights."""
        return analysis.weight_products(self.model)

    def at(self, t: float) -> analysis.UnitValues:
        """The units at one depth; a point of the curve is taken from there."""
        known = self.curve if self.is_curve else self.units
        near = int(np.argmin(np.abs(known.t - t)))
        if self.is_curve and abs(known.t[near] - t) > 1e-6:
            return analysis.units_at(self.model, t)
        values = {name: known.of(name)[near : near + 1] for name in known.names}
        return analysis.UnitValues(known.t[near : near + 1], values, known.are_gates, known.unchanged)

    @property
    def is_curve(self) -> bool:
        """Whether the model has weights between its depth steps."""
        return self.model.config.is_continuous


class ViewCache:
    """The views of the models that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, DepthViews] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, entry: Entry) -> DepthViews:
        """The views of a model; those of another model under the same name are dropped."""
        with self._guard:
            views = self._kept.pop(entry.name, None)
            if views is None or views.model is not entry.model:
                views = DepthViews(entry.model)
            self._kept[entry.name] = views
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return views
