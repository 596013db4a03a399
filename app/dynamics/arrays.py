"""The arrays behind the Dynamics tab, computed when they are first asked for and kept for the next view."""

from collections import OrderedDict
from functools import cached_property
from typing import Any

import numpy as np

from app.controls import whole_number
from app.shelf import ViewsOfModel
from app.shelf.views import MOST_KEPT
from tipshare import analysis
from tipshare.model.language_model import LanguageModel

# A click on a byte is answered at once: sensitivities follow every direction of the last stream only for texts of so
# many positions times width, and DIRECTIONS beyond. Gradients, and with them the tint, are exact either way.
MOST_EXACT = 16 * 256
DIRECTIONS = 16


class WeightViews(ViewsOfModel):
    """The spectra of one model's weights."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._between: OrderedDict[float, dict[str, analysis.Spectrum]] = OrderedDict()

    @cached_property
    def spectra(self) -> dict[str, analysis.Spectrum]:
        """At the model's depth steps."""
        return analysis.spectra(self.model)

    def at(self, name: str, t: float) -> analysis.Spectrum:
        """One product at depth t; of models with weights per layer, at the layer nearest to t."""
        known = self.spectra[name]
        near = int(np.argmin(np.abs(known.t - t)))
        if not self.model.config.is_continuous or self.model.is_frozen or abs(known.t[near] - t) < 1e-6:
            cut = slice(near, near + 1)
            return analysis.Spectrum(known.t[cut], known.eigenvalues[cut], known.singular_values[cut])
        found = self._between.get(t)
        if found is None:
            found = self._between[t] = analysis.spectra(self.model, [t])
            while len(self._between) > MOST_KEPT:
                self._between.popitem(last=False)
        return found[name]


class TextViews(ViewsOfModel):
    """What one model does with one text."""

    def __init__(self, model: LanguageModel, text: bytes) -> None:
        super().__init__(model)
        self.text = text
        self._sensed: dict[int, analysis.Sensitivity] = {}

    @cached_property
    def lens(self) -> analysis.Lens:
        """The prediction at every depth and position."""
        return analysis.lens(self.model, self.text)

    @cached_property
    def stream(self) -> analysis.StreamChange:
        """How much every depth step changes."""
        return analysis.stream_change(self.model, self.text)

    @cached_property
    def poles(self) -> analysis.Poles | None:
        """How long the states of a state space remember; None without one."""
        return analysis.ssm_poles(self.model, self.text) if self.model.config.mixer == "ssm" else None

    def sensitivity(self, place: Any) -> analysis.Sensitivity:
        """What the prediction at a position depends on; of the last if None."""
        last = len(self.lens.ids) - 1
        place = last if place is None else whole_number("place", place)
        if not 0 <= place <= last:
            raise ValueError(f"place={place} is not a byte of this text: give 0 to {last}")
        if place not in self._sensed:
            size = len(self.lens.ids) * self.model.config.hidden_dim
            directions = None if size <= MOST_EXACT else DIRECTIONS
            self._sensed[place] = analysis.sensitivity(self.model, self.text, place, directions=directions)
        return self._sensed[place]
