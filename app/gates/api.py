"""Gates for other programs: the arrays behind the figures, as plain data."""

from typing import Any

import gradio as gr
import numpy as np
from gradio.events import api

from app.errors import shown_to_user
from app.events import TURNS
from app.gates.arrays import untrained_stretches
from app.places import MEANINGS, NAMES
from app.shelf import ModelShelf
from tipshare import analysis

# Depths of one request; a model has some thousands of values at each.
MOST_DEPTHS = 24
DIGITS = 5


def build_api(shelf: ModelShelf) -> None:
    """The endpoint `/gates`."""

    def gates(request: gr.Request, model: str, depths: list[float] | None = None) -> dict:
        """The gates of a model along depth; for kinds without gates, norms of each unit's weights over their mean.

        Args:
            model: Name of a model, from `models`.
            depths: Depths t in (0, 1]; without any, those of the model's depth steps.
        """
        return describe_gates(shelf.of(request.session_hash), model, depths or [])

    api(shown_to_user(gates), api_name="gates", **TURNS)


def describe_gates(shelf: ModelShelf, model: str, depths: list[float]) -> dict[str, Any]:
    """Values by place, a row of units for every depth."""
    if not isinstance(depths, list) or not all(isinstance(t, int | float) for t in depths):
        raise ValueError(f"depths={depths!r:.80} must be a list of numbers in (0, 1]")
    if len(depths) > MOST_DEPTHS:
        raise ValueError(f"{len(depths)} depths are asked for: give at most {MOST_DEPTHS} at once")
    entry = shelf.get(model)
    if depths:
        units = [analysis.units_at(entry.model, float(t)) for t in depths]
    else:
        units = [analysis.unit_values(entry.model)]
    t, first = np.concatenate([each.t for each in units]), units[0]
    return {
        "model": entry.name,
        "are_gates": first.are_gates,
        "unchanged": first.unchanged,
        "depths": [round(float(each), 6) for each in t],
        "not_covered_by_training": [list(each) for each in untrained_stretches(entry)],
        "places": {
            name: {
                "title": NAMES[name],
                "meaning": MEANINGS[name],
                "values": np.concatenate([each.of(name) for each in units]).astype(float).round(DIGITS).tolist(),
            }
            for name in first.names
        },
    }
