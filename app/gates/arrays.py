"""The arrays behind the Gates tab, computed once per model and cached."""

import itertools
from functools import cached_property

import numpy as np

from app.shelf import Entry, ViewsOfModel
from tipshare import analysis
from tipshare.model.depth import depths, turns_of_time

# A record with more depth steps than this is not one of ours.
MOST_DRAWN = 1_000


def trained_depths(entry: Entry) -> np.ndarray:
    """The depths t that training used, in increasing order: those of the model's own depth steps, or of all that were
    drawn for its training steps."""
    settings = entry.record.settings if entry.record else {}
    drawn = [steps for steps in settings.get("depth_steps") or () if isinstance(steps, int) and 0 < steps <= MOST_DRAWN]
    own = [entry.config.num_layers] if not drawn or settings.get("consistency") else []
    return np.unique(np.concatenate([depths(steps) for steps in (*drawn, *own)]).round(6))


def untrained_stretches(entry: Entry) -> list[tuple[float, float]]:
    """Stretches of t that training did not cover: before the first depth that it used, and wherever the fastest
    feature of t turns by half a circle or more between two of them; empty for models that do not read t."""
    turns = turns_of_time(entry.config)
    trained = trained_depths(entry)
    gaps = [(0.0, float(trained[0])), *itertools.pairwise(map(float, trained))]
    return [(low, high) for low, high in gaps if turns and (low == 0.0 or (high - low) * turns >= 0.5)]


class DepthViews(ViewsOfModel):
    """The arrays of one model; each is computed when it is first asked for."""

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
