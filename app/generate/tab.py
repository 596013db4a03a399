"""The Generate tab: several models continue one prompt, each in a card of its own."""

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr

from app.controls import texts, told
from app.errors import shown_to_user
from app.events import CHECKED, ON_PAGE, QUICK, TURNS
from app.generate.actions import GenerateActions
from app.generate.active_runs import Runs
from app.generate.api import build_api
from app.generate.cards import bare_cards, build_cards, show_dots, show_legend, show_line
from app.generate.dial import NO_MODEL
from app.generate.examples import FIRST, PROMPTS
from app.generate.passage import show_passage
from app.generate.sampling_controls import build_dial, build_sampling_controls, draw_seed
from app.generate.sections import build_blind_section, build_score_section
from app.generate.settings import MOST_MODELS, PARAMETERS, WritingRequest
from app.shelf import ModelShelf

# Seconds between two looks for examples that are still being written.
LOOK_EVERY = 3.0


def build_generate_tab(demo: gr.Blocks, tab: gr.Tab, shelf: ModelShelf, runs: Runs, arrival: Any) -> None:
    """Lay out the tab inside an open `gr.Tab`.

    Args:
        arrival: The event that puts a model on the shelf, whose success brings it into the list.
    """
    actions = GenerateActions(shelf, runs)
    with gr.Row(elem_id="opening"):
        claim = gr.HTML("", elem_id="claim", min_width=320)
        passage = gr.HTML(show_passage(None), elem_id="passage", min_width=320)
    with gr.Row(elem_id="prompt-row", equal_height=True):
        prompt = gr.Textbox(
            FIRST,
            label="Prompt",
            placeholder="May be empty: the models then start a new text",
            lines=1,
            max_lines=6,
            scale=6,
            elem_id="prompt",
        )
        steps = build_dial(NO_MODEL)
        go = gr.Button("Generate", variant="primary", min_width=110, scale=0, elem_id="go")
        stop = gr.Button("Stop", variant="stop", min_width=80, scale=0, elem_id="stop")
    with gr.Row(elem_id="examples"):
        chips = [gr.Button(text.strip(), size="sm", min_width=60, scale=0) for text in PROMPTS]
    models = gr.CheckboxGroup(
        shelf.choices(),
        value=shelf.names()[:MOST_MODELS],
        label="Models, up to four",
        container=False,
        elem_id="models",
    )
    dots = gr.HTML(show_dots(shelf), visible="hidden")
    with gr.Row(elem_id="above-cards"):
        line = gr.HTML(show_line(""), elem_id="line", scale=3)
        tinted = gr.Checkbox(True, label="Tint by surprise", container=False, min_width=150, scale=0, elem_id="tinted")
        gr.HTML(show_legend(), elem_id="legend")
    cards, stream = build_cards(bare_cards(shelf, shelf.names()[:MOST_MODELS]))
    with gr.Row(elem_id="tools"):
        again = gr.Button("Regenerate", size="sm", min_width=90, scale=0)
        clear = gr.Button("Clear", size="sm", min_width=60, scale=0)
        link = gr.Button("Copy link", size="sm", min_width=80, scale=0)
        download = gr.Button("Download JSON", size="sm", min_width=110, scale=0)
    settings, sampling = build_sampling_controls()
    controls = [prompt, models, *sampling, steps]
    blind_head = build_blind_section(actions)
    build_score_section(shelf, models)
    # The number of the visitor's latest run, the settings of a link that was opened, and the address of a new link.
    number, linked, query = (gr.Textbox(visible=False) for _ in range(3))

    def on_open(request: gr.Request) -> list[Any]:
        return actions.of(request).open_page(request)

    def on_choose(request: gr.Request, chosen: list[str] | None, depth: Any) -> dict[str, Any]:
        return actions.of(request).choose(chosen, depth)

    def on_prepare(request: gr.Request, *values: Any) -> list[Any]:
        return actions.of(request).prepare(str(request.session_hash), *values)

    def on_write(request: gr.Request, number: str, *values: Any) -> Iterator[Any]:
        yield from actions.of(request).write(str(request.session_hash), number, *values)

    def on_stop(request: gr.Request) -> Any:
        return actions.stop(str(request.session_hash))

    def on_clear(request: gr.Request) -> tuple[str, dict[str, Any]]:
        return "", actions.clear(str(request.session_hash))

    def make_link(*values: Any) -> str:
        return WritingRequest.of_controls(*values).to_query()

    def prepare_linked(request: gr.Request, values: str) -> list[Any]:
        return on_prepare(request, *_values_of(values))

    def write_linked(request: gr.Request, number: str, values: str) -> Iterator[Any]:
        yield from on_write(request, number, *_values_of(values))

    def wire(start: Any, name: str, trigger_mode: str = "multiple", linked: Any = None) -> None:
        """Prepare the cards and end an earlier run, then write; `name` is what other programs call the writing.

        What a link asks for is given by `linked`, since the controls may not have taken its values yet.
        """
        inputs = controls if linked is None else [linked]
        # Without Gradio's checks, what a control cannot have and models that are gone are answered in our words.
        prepared = start(
            shown_to_user(on_prepare if linked is None else prepare_linked),
            inputs,
            [cards, stream, number],
            api_name=f"prepare_{name}",
            trigger_mode=trigger_mode,
            preprocess=False,
            **CHECKED,
        )
        prepared.success(
            shown_to_user(on_write if linked is None else write_linked),
            [number, *inputs],
            stream,
            api_name=name,
            # While one waits in line, what comes after it waits on the page, as one request.
            trigger_mode="always_last",
            show_progress="minimal",
            show_progress_on=line,
            preprocess=False,
            **ON_PAGE,
            **TURNS,
        )

    wire(lambda *a, **k: gr.on([go.click, prompt.submit], *a, **k), "generate")
    wire(linked.change, "generate_linked", linked=linked)
    wire(again.click(draw_seed, None, controls[-2], api_name="draw_another_seed", **QUICK).then, "regenerate")
    # While the dial turns, only where it comes to rest is written.
    wire(steps.input, "generate_at_depth", "always_last")
    for place, (chip, text) in enumerate(zip(chips, PROMPTS, strict=True)):
        wire(chip.click(None, None, prompt, js=f"() => {json.dumps(text)}").then, f"generate_example_{place}")
    stop.click(on_stop, None, stream, api_name="stop", **QUICK)
    clear.click(on_clear, None, [prompt, stream], api_name="clear", **QUICK)
    models.input(
        shown_to_user(on_choose),
        [models, steps],
        cards,
        api_name="choose_models",
        trigger_mode="always_last",
        preprocess=False,
        **QUICK,
    )
    link.click(shown_to_user(make_link), controls, query, api_name="link", preprocess=False, **CHECKED).success(
        None, query, None, js="(query) => tipshare.copyLink(query)"
    )
    download.click(None, None, None, js="() => tipshare.cards.download()")
    tinted.change(None, tinted, None, js="(on) => tipshare.tint(on)")
    build_api(actions)
    timer = gr.Timer(LOOK_EVERY, active=False)
    timer.tick(actions.look_for_examples, None, [stream, timer], api_name="look_for_examples", **QUICK)
    demo.load(on_open, None, [*controls, cards, stream, linked, timer, settings], api_name="open_page", **QUICK)
    demo.load(actions.show_opening, None, [claim, blind_head], api_name="opening", **QUICK)
    demo.load(actions.show_passage, None, passage, api_name="passage", **QUICK)

    def refresh_models(request: gr.Request, chosen: Any) -> tuple[dict[str, Any], str]:
        mine = shelf.of(request.session_hash)
        names = mine.names()
        left = [name for name in texts("models", chosen) if name in names]
        return told(chosen, left, choices=mine.choices()), show_dots(mine)

    # What the visitor loaded or trained in the meantime, and without what is gone.
    for event, name in ((arrival.success, "refresh_models"), (tab.select, "list_models")):
        event(shown_to_user(refresh_models), models, [models, dots], api_name=name, preprocess=False, **QUICK)


def _values_of(linked: str) -> list[Any]:
    """The values of the controls in the JSON text of a link's run."""
    try:
        values = json.loads(linked)
    except ValueError as error:
        raise ValueError("a link's settings must be a JSON list") from error
    if not isinstance(values, list) or len(values) != len(PARAMETERS):
        raise ValueError(f"a link's settings must be a JSON list of {len(PARAMETERS)} values")
    return values
