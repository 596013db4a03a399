"""Endpoints for other programs, such as `gradio_client`."""

from collections.abc import Iterator
from typing import Any

import gradio as gr
from gradio.events import api

from app.errors import shown_to_user
from app.events import TURNS
from app.generate.actions import GenerateActions
from app.generate.scoring import score_in_turns
from app.generate.settings import DEFAULT, WritingRequest
from app.shelf import Listing


def build_api(actions: GenerateActions) -> None:
    """Endpoints without a button: `/write`, `/score`, `/models` and `/load_model`."""

    def write(
        request: gr.Request,
        prompt: str,
        models: list[str],
        temperature: float = DEFAULT.temperature,
        top_k: int = DEFAULT.top_k,
        top_p: float = DEFAULT.top_p,
        min_p: float = DEFAULT.min_p,
        penalty: float = DEFAULT.penalty,
        length: int = DEFAULT.length,
        seed: int = DEFAULT.seed,
        steps: int = DEFAULT.steps,
    ) -> Iterator[dict]:
        """Continue a prompt with one to four models; yields the texts as they grow, at last with all probabilities.

        Args:
            prompt: Text to continue; may be empty.
            models: Names of models, from `models`.
            temperature: Divides the logits; 0 always takes the most probable byte.
            top_k: Sample from this many most probable bytes; 0 for all.
            top_p: Sample from the most probable bytes that together reach this probability.
            min_p: Leave out bytes below this share of the highest probability.
            penalty: Above 1, bytes in the recent text become less probable.
            length: Bytes to generate.
            seed: The same seed gives the same text.
            steps: Depth steps of the kinds with continuous depth; 0 for as many as in training.
        """
        values = (prompt, models, temperature, top_k, top_p, min_p, penalty, length, seed, steps)
        yield from actions.of(request).write_plainly(str(request.session_hash), WritingRequest.of_controls(*values))

    def score(request: gr.Request, text: str, models: list[str]) -> dict:
        """How well each model predicts a text: bits per byte, and the log-probability of every byte.

        Args:
            text: Any text.
            models: Names of one to four models, from `models`.
        """
        *_, scored = score_in_turns(actions.of(request).shelf, text or "", models or ())
        return {"models": [each.as_json() for each in scored]}

    def load_model(request: gr.Request, source: str) -> dict:
        """Load a model from the Hub, for you alone; its name is what the other endpoints take.

        Args:
            source: A Hub id (organisation/name), or the name of a bundled model.
        """
        shelf = actions.of(request).shelf
        return describe(shelf.get(shelf.add(source)))

    def models(request: gr.Request) -> list[dict]:
        """The models of the page, and those that you loaded: name, kind, parameters and loss."""
        shelf = actions.of(request).shelf
        return [describe(shelf.describe(name)) for name in shelf.names()]

    api(shown_to_user(write), api_name="write", **TURNS)
    api(shown_to_user(score), api_name="score", **TURNS)
    api(shown_to_user(models), api_name="models")
    api(shown_to_user(load_model), api_name="load_model")


def describe(listing: Listing) -> dict[str, Any]:
    """What is known of a model, as plain data."""
    return {
        "name": listing.name,
        "label": listing.label,
        "kind": listing.kind,
        "parameters": listing.stored,
        "effective_parameters": listing.effective,
        "valid_loss": listing.loss,
    }
