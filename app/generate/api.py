"""Endpoints for other programs, such as `gradio_client`."""

from collections.abc import Iterator

import gradio as gr
from gradio.events import api

from app.errors import shown_to_user
from app.events import TURNS
from app.generate.actions import GenerateActions
from app.generate.settings import WritingRequest

DEFAULT = WritingRequest(models=("any",))


def build_api(actions: GenerateActions) -> None:
    """Endpoints without a button: `/write` and `/models`."""

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

    def models(request: gr.Request) -> list[dict]:
        """The models of the page, and those that you loaded: name, kind, parameters and loss."""
        shelf = actions.of(request).shelf
        listings = [shelf.describe(name) for name in shelf.names()]
        return [
            {
                "name": each.name,
                "label": each.label,
                "kind": each.kind,
                "parameters": each.stored,
                "effective_parameters": each.effective,
                "valid_loss": each.loss,
            }
            for each in listings
        ]

    api(shown_to_user(write), api_name="write", **TURNS)
    api(shown_to_user(models), api_name="models")
