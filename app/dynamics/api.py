"""Dynamics for other programs: what the weights of a model and a text on its way do along depth, as plain data."""

from typing import Any

import gradio as gr
import numpy as np
from gradio.events import api

from app.dynamics.actions import DynamicsActions
from app.dynamics.settings import EXAMPLE
from app.errors import shown_to_user
from app.events import TURNS

DIGITS = 5


def build_api(actions: DynamicsActions) -> None:
    """The endpoint `/dynamics`."""

    def dynamics(request: gr.Request, model: str, text: str = EXAMPLE, place: int | None = None) -> dict:
        """Spectra of a model's weights at every depth step, and of a text the prediction at every depth, what one
        prediction depends on, and how much every depth step changes.

        Args:
            model: Name of a model, from `models`.
            text: The text, of at most 256 bytes.
            place: The byte whose prediction is traced back: 1 for the first, 0 for what begins a text; the last if
                none is given.
        """
        return describe_dynamics(actions.of(request.session_hash), model, text, place)

    api(shown_to_user(dynamics), api_name="dynamics", **TURNS)


def describe_dynamics(actions: DynamicsActions, model: str, text: str, place: int | None = None) -> dict[str, Any]:
    """The numbers behind the views of the Dynamics tab."""
    entry, weights, views = actions.look(model, text)
    lens, stream = views.lens, views.stream
    sensed = views.sensitivity(place)
    products = {
        name: {
            "depths": _plain(found.t),
            "mean_magnitude": _plain(found.magnitude),
            "spectral_radius": _plain(found.radius),
            "largest_real_part": _plain(found.largest_real),
            "effective_rank": _plain(found.rank),
        }
        for name, found in weights.spectra.items()
    }
    return {
        "model": entry.name,
        "bytes": lens.ids.tolist(),
        "weights": products,
        "lens": {
            "depths": _plain(lens.t),
            "likeliest_bytes": lens.bytes.tolist(),
            "probabilities": _plain(lens.probabilities),
            "entropy_bits": _plain(lens.entropies),
            "loss_nats": _plain(lens.losses),
            "divergence_nats": _plain(lens.divergences),
        },
        "sensitivity": {
            "place": sensed.place,
            "predicted_byte": sensed.predicted,
            "shares": _plain(sensed.shares),
            "exponents": _plain(sensed.exponents),
            "exponents_are_exact": sensed.is_exact,
        },
        "stream": {
            "depths": _plain(stream.t),
            "update_sizes": _plain(stream.update_sizes.mean(axis=1)),
            "degrees_to_next_update": _plain(stream.update_angles.mean(axis=1)),
            "alignment": _plain(stream.alignment),
            "effective_rank": _plain(stream.ranks),
        },
        "time_constants_bytes": None if views.poles is None else _plain(views.poles.time_constants),
    }


def _plain(values: Any) -> Any:
    """Nested lists of rounded numbers; None where there is no finite one, because JSON has no other."""
    found = np.asarray(values, dtype=float).round(DIGITS)
    known = found.astype(object)
    known[~np.isfinite(found)] = None
    return known.tolist()
