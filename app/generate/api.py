"""The page for other programs: `gradio_client` calls these by name."""

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
        """Write on after a prompt with one to four models; yields the texts as they grow, at last with all odds.

        Args:
            prompt: What the models write on after; may be empty.
            models: Names of models, from `models`.
            temperature: How freely they choose; 0 always takes the likeliest byte.
            top_k: Choose among this many likeliest bytes; 0 for all.
            top_p: Choose among the likeliest bytes that have this probability together.
            min_p: Leave out bytes below this share of the likeliest one's probability.
            penalty: Above 1, bytes that were written lately become less likely.
            length: Bytes to write.
            seed: The same seed writes the same text.
            steps: Depth steps of the kinds with continuous depth; 0 for as many as in training.
        """
        values = (prompt, models, temperature, top_k, top_p, min_p, penalty, length, seed, steps)
        yield from actions.write_plainly(str(request.session_hash), WritingRequest.of_controls(*values))

    def models() -> list[dict]:
        """The models on the shelf: name, kind, parameters and loss."""
        listings = [actions.shelf.describe(name) for name in actions.shelf.names()]
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
