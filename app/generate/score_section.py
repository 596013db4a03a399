"""The "Score my text" part of the Generate tab."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from app.errors import shown_to_user
from app.events import QUICK, TURNS
from app.generate.scoring import MOST_BYTES, score_in_turns, show_scores
from app.shelf import ModelShelf

EXAMPLE = " The tower was built in 1889 , and for forty @-@ one years it was the tallest structure in the world . \n"


def build_score_section(shelf: ModelShelf, models: gr.CheckboxGroup) -> None:
    """Lay out the section; it scores with the models that the tab has chosen."""

    def score(text: str, chosen: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """How well each model predicts a text: bits per byte, and the odds of every byte.

        Args:
            text: Any text.
            chosen: Names of models, from `models`.
        """
        for scored in score_in_turns(shelf, text or "", chosen or ()):
            yield show_scores(text, scored), {"models": [each.as_json() for each in scored]}

    gr.HTML(
        "<h2>Score my text</h2><p>How well does each of the chosen models predict a text of yours, byte by byte?</p>",
        elem_id="score-head",
    )
    with gr.Row(equal_height=True, elem_id="score-row"):
        text = gr.Textbox(
            label=f"Text, up to {MOST_BYTES:,} bytes", lines=3, max_lines=8, scale=6, elem_id="score-text"
        )
        with gr.Column(min_width=120, scale=0):
            go = gr.Button("Score", variant="primary", min_width=110, elem_id="score")
            example = gr.Button("Example", size="sm", min_width=110, elem_id="score-example")
    shown = gr.HTML("", elem_id="scores")
    result = gr.JSON(visible=False)
    go.click(shown_to_user(score), [text, models], [shown, result], api_name="score", show_progress="minimal", **TURNS)
    example.click(lambda: EXAMPLE, None, text, api_name="score_example", **QUICK)
