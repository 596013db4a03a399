"""The Train tab: what to train on the left, what becomes of it on the right."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from app.controls import as_linked
from app.errors import shown_to_user
from app.events import CHECKED, ON_PAGE, QUICK
from app.links import Link, add_copy_button, keep_in_address, open_link
from app.plot_style import for_page, place_for
from app.shelf import ModelShelf
from app.train.actions import TrainActions, View
from app.train.choices import NOTHING, RECIPE, options_of
from app.train.figures import draw_depths, draw_losses, draw_units
from app.train.line import LEFT
from app.train.session import Snapshot
from app.train.settings import BUILTIN, LEAST_STEPS, MOST_SEED, MOST_STEPS, MOST_TEXT, PASTED, WIDTHS, TrainingRequest
from app.train.words import ABOUT, LIMITS, show_kept, show_left, show_samples, show_state, show_waiting
from tipshare.config import KINDS
from tipshare.kinds import title_of

FIRST = "time-indexed-ssm"


def build_train_tab(demo: gr.Blocks, shelf: ModelShelf, archives: Path) -> None:
    """Lay out the tab inside its open `gr.Tab`; what a visitor trains is put on the shelf for them.

    Args:
        archives: A folder that the page serves files from.
    """
    gr.HTML(ABOUT, elem_id="train-about")
    with gr.Row():
        with gr.Column(scale=1, min_width=280, elem_id="train-controls"):
            kind = gr.Dropdown(
                [(title_of(each), each) for each in KINDS], value=FIRST, label="Kind", elem_id="train-kind"
            )
            choice = gr.Dropdown(_choices(FIRST), value=NOTHING, label="Change one thing", elem_id="train-choice")
            source = gr.Radio(
                [("Python's manual", BUILTIN), ("a text of yours", PASTED)],
                value=BUILTIN,
                label="Text to learn from",
                elem_id="train-source",
            )
            text = gr.Textbox(
                label=f"Your text, up to {MOST_TEXT:,} bytes",
                lines=5,
                max_lines=10,
                visible=False,
                elem_id="train-text",
            )
            with gr.Accordion("Size of the run", open=False, elem_id="train-size"):
                steps = gr.Slider(
                    LEAST_STEPS,
                    MOST_STEPS,
                    value=RECIPE.num_steps,
                    step=10,
                    label="Training steps",
                    elem_id="train-steps",
                )
                width = gr.Radio(list(WIDTHS), value=RECIPE.model["hidden_dim"], label="Width", elem_id="train-width")
                seed = gr.Number(0, label="Seed", precision=0, elem_id="train-seed")
                gr.HTML(f'<p class="note">{LIMITS}</p>')
            with gr.Row():
                go = gr.Button("Train", variant="primary", min_width=110, elem_id="train-go")
                stop = gr.Button("Stop", variant="stop", min_width=80, interactive=False, elem_id="train-stop")
            add_copy_button("train-link")
            file = gr.DownloadButton("Download checkpoint", visible=False, elem_id="train-file")
            kept = gr.HTML(elem_id="train-kept")
        with gr.Column(scale=3, min_width=320):
            status = gr.HTML('<p role="status">Choose, then press Train.</p>', elem_id="train-status")
            losses = place_for("Loss", "train-losses", draw_losses(None, None))
            with gr.Row():
                depths = place_for("Loss at other depths", "train-depths", draw_depths(None, None))
                units = place_for("Gates over t", "train-units", draw_units(None))
            gr.HTML("<h3>What it writes</h3>", elem_id="train-samples-head")
            samples = gr.HTML(show_samples(None), elem_id="train-samples")

    actions = TrainActions(shelf, archives)
    controls = [kind, choice, source, text, steps, width, seed]

    def on_train(request: gr.Request, *values: Any) -> Iterator[list[Any]]:
        page = _Page()
        for view in actions.train(str(request.session_hash), TrainingRequest.of_controls(*values)):
            yield page.show(view)

    def on_stop(request: gr.Request) -> None:
        actions.stop(str(request.session_hash))

    def on_leave(request: gr.Request) -> None:
        actions.leave(str(request.session_hash))

    def fill(request: gr.Request) -> list[Any]:
        """The controls as a link asks for them."""
        return as_linked(open_link(request, "train", read_link), read_link(Link({}, "train")))

    defaults = {"kind": kind, "choice": choice, "source": source, "steps": steps, "width": width, "seed": seed}
    for name, control in defaults.items():
        keep_in_address(control, name, control.value, forget=("choice",) if name == "kind" else ())
    demo.load(fill, None, [*defaults.values()], api_name="open_train", **CHECKED)
    run = go.click(
        shown_to_user(on_train),
        controls,
        [status, losses, depths, units, samples, go, stop, file, kept],
        api_name="train",
        # A page that is a moment behind sends a choice of the old list: the request checks it.
        preprocess=False,
        show_progress="hidden",
        # Runs wait in a line of their own, in which visitors see their place.
        concurrency_limit=None,
        **ON_PAGE,
    )
    # After an error the buttons are as before.
    run.failure(_ready, None, [go, stop], api_name="train_again", **QUICK)
    stop.click(on_stop, None, None, api_name="stop_training", **QUICK)
    # In the browser, and so at once: Gradio's lists break if their choices change while they are open.
    offers = {each: {"__type__": "update", "choices": _choices(each), "value": NOTHING} for each in KINDS}
    kind.input(None, kind, choice, js=f"(kind) => ({json.dumps(offers)})[kind]", api_visibility="private")
    source.change(lambda wanted: gr.update(visible=wanted == PASTED), source, text, api_name="offer_text", **QUICK)
    demo.unload(on_leave)


def read_link(link: Link) -> list[Any]:
    """Kind, choice, text, steps, width and seed, as a link asks for them."""
    kind = link.one_of("kind", FIRST, KINDS)
    return [
        kind,
        gr.update(choices=_choices(kind), value=link.one_of("choice", NOTHING, options_of(kind))),
        link.one_of("source", BUILTIN, (BUILTIN, PASTED)),
        link.number("steps", RECIPE.num_steps, LEAST_STEPS, MOST_STEPS),
        int(link.one_of("width", str(RECIPE.model["hidden_dim"]), map(str, WIDTHS))),
        link.number("seed", 0, 0, MOST_SEED),
    ]


class _Page:
    """Turns views into updates of the page, and sends a figure only when it has changed."""

    def __init__(self) -> None:
        self._sent: Snapshot | None = None

    def show(self, view: View) -> list[Any]:
        """Values of the outputs of the event, in their order."""
        now, before, sent = view.now, view.before, self._sent
        if now is None:
            is_out = view.ahead == LEFT
            status = show_left() if is_out else show_waiting(view.ahead)
            return [status, *[gr.skip()] * 4, *(_ready() if is_out else _busy()), gr.skip(), gr.skip()]
        self._sent = now

        def fresh(part: Callable[[Snapshot], Any], draw: Callable[[], Any]) -> Any:
            is_new = sent is None or part(sent) is not part(now) or now.is_over
            return draw() if is_new else gr.skip()

        trained = view.trained
        return [
            show_state(now, before),
            fresh(lambda run: run.losses, lambda: for_page(draw_losses(now, before), "training_loss")),
            fresh(lambda run: run.depths, lambda: for_page(draw_depths(now, before), "loss_at_other_depths")),
            fresh(lambda run: run.units, lambda: for_page(draw_units(now), "gates_over_t")),
            fresh(lambda run: run.samples, lambda: show_samples(now)),
            *(_ready() if now.is_over else _busy()),
            gr.update(value=str(trained.archive), visible=True) if trained else gr.skip(),
            show_kept(trained.label, now.request.command) if trained else gr.skip(),
        ]


def _busy() -> list[dict[str, Any]]:
    return [gr.update(interactive=False), gr.update(interactive=True)]


def _ready() -> list[dict[str, Any]]:
    return [gr.update(interactive=True), gr.update(interactive=False)]


def _choices(kind: str) -> list[tuple[str, str]]:
    return [(option.title, value) for value, option in options_of(kind).items()]
