"""The sections below the cards: the blind test, and "Score my text"."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from app.errors import shown_to_user
from app.events import CHECKED, ON_PAGE, QUICK, TURNS
from app.generate.actions import GenerateActions
from app.generate.blind import NAMES, BlindTest, answer, ask, show_pair
from app.generate.examples import PROMPTS
from app.generate.scoring import score_in_turns, show_scores
from app.shelf import ModelShelf
from app.shelf.limits import LONGEST_SCORED

TO_SCORE = " The tower was built in 1889 , and for forty @-@ one years it was the tallest structure in the world . \n"


def build_blind_section(actions: GenerateActions) -> gr.HTML:
    """Lay out the blind test; returns its heading, which needs the records."""
    head = gr.HTML("<h2>Blind test</h2>", elem_id="blind-head")
    with gr.Row(elem_id="blind-tools"):
        new = gr.Button("New pair", size="sm", min_width=90, scale=0, elem_id="new-pair")
        guesses = [gr.Button(f"{name} is the smaller", size="sm", min_width=120, interactive=False) for name in NAMES]
    verdict = gr.HTML("", elem_id="verdict")
    pair = gr.HTML("", elem_id="pair")
    state = gr.State(BlindTest())

    def may_answer(can: bool) -> list[Any]:
        return [gr.Button(interactive=can)] * len(guesses)

    # An answer to the pair before would be lost while the new one is written.
    def on_close(test: BlindTest) -> list[Any]:
        return [replace(test, is_open=False), "", "", *may_answer(False)]

    # Of the bundled models, which the question is about, whatever else a visitor has loaded.
    def on_new(test: BlindTest) -> list[Any]:
        test = ask(actions.shelf, actions.measured, test, PROMPTS)
        return [test, show_pair(test), *may_answer(True)]

    def answer_with(guess: str) -> Callable[..., list[Any]]:
        def on_answer(test: BlindTest) -> list[Any]:
            test, words = answer(actions.shelf, test, guess)
            return [test, words, *may_answer(False)]

        return on_answer

    closed = new.click(on_close, state, [state, pair, verdict, *guesses], api_name="close_pair", **CHECKED)
    closed.success(
        shown_to_user(on_new),
        state,
        [state, pair, *guesses],
        api_name="new_pair",
        show_progress_on=pair,
        **ON_PAGE,
        **TURNS,
    )
    for name, guess in zip(NAMES, guesses, strict=True):
        guess.click(
            shown_to_user(answer_with(name)),
            state,
            [state, verdict, *guesses],
            api_name=f"answer_{name.lower()}",
            **CHECKED,
        )
    return head


def build_score_section(shelf: ModelShelf, models: gr.CheckboxGroup) -> None:
    """Lay out "Score my text", which scores with the models that are chosen on the tab."""

    def score(request: gr.Request, text: str, chosen: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """How well each model predicts a text: bits per byte, and the log-probability of every byte.

        Args:
            text: Any text.
            chosen: Names of models, from `models`.
        """
        for scored in score_in_turns(shelf.of(request.session_hash), text or "", chosen or ()):
            yield show_scores(text, scored), {"models": [each.as_json() for each in scored]}

    gr.HTML(
        "<h2>Score my text</h2><p>How well does each of the chosen models predict a text of yours, byte by byte?</p>",
        elem_id="score-head",
    )
    with gr.Row(equal_height=True, elem_id="score-row"):
        text = gr.Textbox(
            label=f"Text, up to {LONGEST_SCORED:,} bytes", lines=3, max_lines=8, scale=6, elem_id="score-text"
        )
        with gr.Column(min_width=120, scale=0):
            go = gr.Button("Score", variant="primary", min_width=110, elem_id="score")
            example = gr.Button("Example", size="sm", min_width=110, elem_id="score-example")
    shown = gr.HTML("", elem_id="scores")
    result = gr.JSON(visible=False)
    go.click(
        shown_to_user(score),
        [text, models],
        [shown, result],
        api_name="score_text",
        # A model that was just loaded is not in the list that Gradio would check against.
        preprocess=False,
        show_progress="minimal",
        **ON_PAGE,
        **TURNS,
    )
    example.click(lambda: TO_SCORE, None, text, api_name="score_example", **QUICK)
