"""The Generate tab: several models continue one prompt, each in a card of its own."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.errors import shown_to_user
from app.events import CHECKED, ON_PAGE, QUICK, TURNS
from app.generate.actions import GenerateActions
from app.generate.active_runs import Runs
from app.generate.api import build_api
from app.generate.cards import build_written, show_bare_head, show_legend, show_line
from app.generate.sampling_controls import build_sampling_controls, draw_seed
from app.generate.scoring import MOST_BYTES as MOST_SCORED_BYTES
from app.generate.scoring import score_in_turns, show_scores
from app.generate.settings import MOST_MODELS, WritingRequest
from app.shelf import ModelShelf

TO_SCORE = " The tower was built in 1889 , and for forty @-@ one years it was the tallest structure in the world . \n"
EXAMPLES = (" = History of ", "In 1912 , ", "The species is ", "She was born in ", "The battle of ")


@dataclass(frozen=True)
class Card:
    """The components of one model's card."""

    column: gr.Column
    head: gr.HTML
    text: gr.HTML
    foot: gr.HTML


def build_generate_tab(demo: gr.Blocks, tab: gr.Tab, shelf: ModelShelf, runs: Runs, arrival: Any) -> None:
    """Lay out the tab inside an open `gr.Tab`.

    Args:
        arrival: The event that puts a model on the shelf, whose success brings it into the list.
    """
    actions = GenerateActions(shelf, runs)
    with gr.Row(elem_id="prompt-row", equal_height=True):
        prompt = gr.Textbox(
            label="Prompt",
            placeholder="May be empty: the models then start a new text",
            lines=1,
            max_lines=6,
            scale=6,
            elem_id="prompt",
        )
        go = gr.Button("Generate", variant="primary", min_width=110, elem_id="go")
        stop = gr.Button("Stop", variant="stop", min_width=80, elem_id="stop")
    with gr.Row(elem_id="examples"):
        chips = [gr.Button(text.strip(), size="sm", min_width=60, scale=0) for text in EXAMPLES]
    models = gr.CheckboxGroup(
        shelf.choices(), value=shelf.names()[:MOST_MODELS], label="Models, up to four", elem_id="models"
    )
    controls = [prompt, models, *build_sampling_controls()]
    with gr.Row(elem_id="tools"):
        again = gr.Button("Regenerate", size="sm", min_width=90, scale=0)
        clear = gr.Button("Clear", size="sm", min_width=60, scale=0)
        link = gr.Button("Copy link", size="sm", min_width=80, scale=0)
        download = gr.Button("Download JSON", size="sm", min_width=110, scale=0)
        tinted = gr.Checkbox(True, label="Tint by surprise", container=False, min_width=150, scale=0, elem_id="tinted")
        gr.HTML(show_legend(), elem_id="legend")
    line = gr.HTML(show_line(""), elem_id="line")
    cards = _build_cards(shelf)
    _build_score_section(shelf, models)
    result = gr.JSON(visible=False)
    query, called_off = gr.Textbox(visible=False), gr.Textbox("never", visible=False)

    shown = [part for card in cards for part in (card.column, card.head, card.text, card.foot)] + [line]
    written = [part for card in cards for part in (card.text, card.foot)] + [line, result]

    def on_open(request: gr.Request) -> list[Any]:
        return actions.of(request).open_page(request)

    def on_choose(request: gr.Request, chosen: list[str] | None) -> list[Any]:
        return actions.of(request).choose(chosen)

    def on_prepare(request: gr.Request, *values: Any) -> list[Any]:
        return actions.of(request).prepare(*values)

    def on_write(request: gr.Request, *values: Any) -> Iterator[list[Any]]:
        yield from actions.of(request).write(str(request.session_hash), *values)

    def on_stop(request: gr.Request) -> None:
        actions.stop(str(request.session_hash))

    def make_link(*values: Any) -> str:
        return WritingRequest.of_controls(*values).to_query()

    def wire(start: Any, name: str) -> Any:
        """Prepare the cards, then write in them; `name` is what other programs call the writing."""
        prepared = start(shown_to_user(on_prepare), controls, shown, api_name=f"prepare_{name}", **CHECKED)
        return prepared.success(
            shown_to_user(on_write),
            controls,
            written,
            api_name=name,
            show_progress="minimal",
            show_progress_on=line,
            **ON_PAGE,
            **TURNS,
        )

    first = wire(lambda *a, **k: gr.on([go.click, prompt.submit], *a, **k), "generate")
    drawn = again.click(draw_seed, None, controls[-2], api_name="draw_another_seed", **QUICK)
    second = wire(drawn.then, "regenerate")
    stop.click(on_stop, None, None, api_name="stop", **QUICK)
    # A run that is still queued cannot be asked to end, so it is cancelled. A run in progress must not be cancelled, or
    # its text would be missing from the download.
    stop.click(None, called_off, called_off, js="(old) => tipshare.isWaiting() ? String(Date.now()) : old")
    called_off.change(
        actions.leave_line,
        None,
        [*(card.foot for card in cards), line],
        cancels=[first, second],
        api_name="leave_line",
        **QUICK,
    )
    clear.click(lambda: ["", None], None, [prompt, result], api_name="clear", **QUICK).then(
        on_choose, models, shown, api_name="clear_cards", **QUICK
    )
    models.input(on_choose, models, shown, api_name="choose_models", **QUICK)
    link.click(shown_to_user(make_link), controls, query, api_name="link", **CHECKED).success(
        None, query, None, js="(query) => tipshare.copyLink(query)"
    )
    download.click(None, result, None, js="(result) => tipshare.download(result)")
    tinted.change(None, tinted, None, js="(on) => tipshare.tint(on)")
    for chip, text in zip(chips, EXAMPLES, strict=True):
        chip.click(None, None, prompt, js=f"() => {json.dumps(text)}")
    build_api(actions)
    demo.load(on_open, None, [*controls, *shown], api_name="open_page", **QUICK)

    def refresh_models(request: gr.Request, chosen: list[str]) -> gr.CheckboxGroup:
        return gr.CheckboxGroup(choices=shelf.of(request.session_hash).choices(), value=chosen)

    arrival.success(refresh_models, models, models, api_name="refresh_models", **QUICK)
    # What the visitor trained in the meantime.
    tab.select(refresh_models, models, models, api_name="list_models", **QUICK)


def _build_score_section(shelf: ModelShelf, models: gr.CheckboxGroup) -> None:
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
            label=f"Text, up to {MOST_SCORED_BYTES:,} bytes", lines=3, max_lines=8, scale=6, elem_id="score-text"
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


def _build_cards(shelf: ModelShelf) -> list[Card]:
    names = shelf.names()[:MOST_MODELS]
    cards = []
    with gr.Row(elem_classes="cards", elem_id="cards"):
        for number in range(MOST_MODELS):
            is_used = number < len(names)
            with gr.Column(visible=is_used, min_width=240, elem_classes="card") as column:
                head = gr.HTML(show_bare_head(shelf, names[number]) if is_used else "")
                text = build_written()
                foot = gr.HTML("")
            cards.append(Card(column, head, text, foot))
    return cards
