"""The controls for sampling, in the order of `app.generate.settings.PARAMETERS` after prompt and models."""

import random

import gradio as gr
from gradio.components import Component

from app.events import QUICK
from app.generate.dial import DEEPEST, SHALLOWEST
from app.generate.settings import DEFAULT, MOST_SEED
from app.shelf.limits import LONGEST_WRITING
from tipshare.text.tokenizer import BYTES


def build_dial(steps: int) -> gr.Slider:
    """The dial for depth, beside the prompt."""
    return gr.Slider(
        SHALLOWEST,
        DEEPEST,
        steps,
        step=1,
        label="Depth steps",
        info="how often the block is applied; writes again at once",
        min_width=220,
        scale=3,
        elem_id="depth",
    )


def build_sampling_controls() -> tuple[gr.Accordion, list[Component]]:
    """An accordion with the other controls; returns it and them."""
    with gr.Accordion("Settings", open=False, elem_id="settings") as settings:
        with gr.Row():
            length = gr.Slider(
                1, LONGEST_WRITING, DEFAULT.length, step=1, label="Length", info="bytes that each model writes"
            )
            temperature = gr.Slider(
                0, 2, DEFAULT.temperature, step=0.05, label="Temperature", info="0 always takes the most probable byte"
            )
            with gr.Row(elem_classes="seed", equal_height=True):
                seed = gr.Number(
                    DEFAULT.seed, precision=0, minimum=0, maximum=MOST_SEED, label="Seed", info="same seed, same text"
                )
                dice = gr.Button("⚄ Draw", size="sm", min_width=84, scale=0, elem_id="dice")
        with gr.Row():
            top_k = gr.Slider(
                0, BYTES.size, DEFAULT.top_k, step=1, label="Top-k", info="among the k most probable bytes; 0 for all"
            )
            top_p = gr.Slider(
                0.05, 1, DEFAULT.top_p, step=0.01, label="Top-p", info="among those that reach this probability"
            )
            min_p = gr.Slider(
                0, 0.5, DEFAULT.min_p, step=0.01, label="Min-p", info="drop those below this share of the best"
            )
        with gr.Row():
            penalty = gr.Slider(1, 2, DEFAULT.penalty, step=0.01, label="Repetition penalty", info="1 changes nothing")
    dice.click(draw_seed, None, seed, api_name="draw_seed", **QUICK)
    return settings, [temperature, top_k, top_p, min_p, penalty, length, seed]


def draw_seed() -> int:
    """A new seed."""
    return random.randrange(MOST_SEED)
