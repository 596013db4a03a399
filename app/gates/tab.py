"""The Gates tab: controls on the left, what they show on the right; weights and hidden states below."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData

from app.controls import as_linked, told
from app.errors import shown_to_user
from app.events import ON_PAGE, REDRAW
from app.gates.actions import LONGEST_PROMPT, GateActions
from app.gates.api import build_api
from app.gates.figures import COLOURS, ORDERS
from app.links import Link, add_copy_button, keep_in_address, open_link
from app.places import MEANINGS, NAMES
from app.plot_style import for_page, place_for
from app.shelf import ModelShelf

NOBODY = ""
ALL_WEIGHTS = ""
PROMPT = "The history of"
DEPTH = 0.5


def build_gates_tab(shelf: ModelShelf, tab: gr.Tab, arrival: Any) -> None:
    """Lay out the tab inside its open `gr.Tab`; the first figures are drawn when it is opened.

    Args:
        arrival: The event of a model that was put on the shelf, whose success brings it into the lists.
    """
    actions = GateActions(shelf)
    build_api(shelf)

    with gr.Row():
        with gr.Column(scale=1, min_width=260):
            model = gr.Dropdown([], label="Model", elem_id="gates-model")
            other = gr.Dropdown([("nothing", NOBODY)], value=NOBODY, label="Compare with", elem_id="gates-other")
            place = gr.Dropdown(
                _places(tuple(NAMES)), value="up", label="Look at", info=MEANINGS["up"], elem_id="gates-place"
            )
            order = gr.Dropdown(list(ORDERS.items()), value="value", label="Order of units", elem_id="gates-order")
            colour = gr.Radio(list(COLOURS.items()), value="value", label="Colour shows", elem_id="gates-colour")
            add_copy_button("gates-link")
        with gr.Column(scale=3, min_width=320):
            words = gr.HTML(elem_id="gates-words")
            heat_map = place_for("Every unit at every depth step", "gates-heat-map")
    with gr.Row():
        curves = place_for("Mean and middle 80 % over continuous t", "gates-curves")
        spread = place_for("Distribution at every depth step", "gates-distributions")
    with gr.Row():
        with gr.Column(scale=1, min_width=260):
            depth = gr.Slider(0.02, 1.0, value=DEPTH, step=0.02, label="Depth t", elem_id="gates-depth")
            gr.HTML(
                '<p class="note">Move through depth. Kinds with weights per layer show the layer nearest to t; '
                "the others have weights at every t, also between the depths they were trained at.</p>"
            )
        with gr.Column(scale=3, min_width=320):
            at_depth = place_for("All places at this depth", "gates-at-depth")

    gr.HTML("<h2>How different are the layers really?</h2>")
    with gr.Row():
        with gr.Column(scale=1, min_width=260):
            weight = gr.Dropdown(
                [("all weights together", ALL_WEIGHTS), *_places(tuple(NAMES))], value=ALL_WEIGHTS, label="Weights"
            )
        with gr.Column(scale=3, min_width=320):
            weight_words = gr.HTML(elem_id="gates-weight-words")
    with gr.Row():
        similarity = place_for("How far apart depth steps are: 1 - cosine", "gates-similarity")
        norms = place_for("Norm of the weights along depth", "gates-norms")

    gr.HTML(
        "<h2>A prompt on its way through depth</h2>"
        "<p>What would the model say if it stopped here? The final norm and the head, applied to the hidden state of "
        "the last byte after every depth step.</p>"
    )
    with gr.Row(equal_height=True):
        prompt = gr.Textbox(PROMPT, label="Prompt", lines=1, scale=4, min_width=240, elem_id="gates-prompt")
        go_on = gr.Button("Follow it", variant="primary", scale=1, min_width=120, elem_id="gates-follow")
    path_words = gr.HTML(elem_id="gates-path-words")
    with gr.Row():
        predictions = place_for("Next byte if it stopped here", "gates-predictions")
        path = place_for("Hidden state of the last byte", "gates-path")

    def list_models(request: gr.Request, chosen: str | None, compared: str | None) -> list[Any]:
        """The lists of models; what a link asks for when they are listed first."""
        mine = actions.of(request.session_hash)
        choices = shelf.of(request.session_hash).choices()
        names = [name for _, name in choices]
        others: Sequence[Any] = [gr.skip()] * len(controls)
        if chosen is None:
            chosen, compared, *linked = open_link(request, "gates", lambda link: read_link(link, names))
            others = as_linked(linked, read_link(Link({}, "gates"), names)[2:])
        return [
            gr.update(choices=choices, value=chosen if chosen in names else mine.default()),
            gr.update(choices=[("nothing", NOBODY), *choices], value=compared if compared in names else NOBODY),
            *others,
        ]

    def draw(
        request: gr.Request, chosen: str | None, compared: str | None, name: str | None, units: str, shown: str
    ) -> tuple:
        views = actions.of(request.session_hash).views(chosen, compared, name, units, shown)
        choice = told(name, views.name, choices=_places(views.names), info=MEANINGS[views.name])
        orders = told(units, views.order, choices=list(views.orders.items()))
        figures = {"gates": views.heat_map, "gate_curves": views.curves, "gate_distributions": views.distributions}
        return choice, orders, views.words, *(for_page(figure, file) for file, figure in figures.items())

    def draw_at_depth(request: gr.Request, chosen: str | None, compared: str | None, t: float) -> PlotData:
        return for_page(actions.of(request.session_hash).at_depth(chosen, compared, t), "gates_at_depth")

    def draw_weights(request: gr.Request, name: str) -> tuple[str, PlotData, PlotData]:
        told, alike, sizes = actions.of(request.session_hash).weights(name or None)
        return told, for_page(alike, "weight_similarity"), for_page(sizes, "weight_norms")

    def follow(
        request: gr.Request, chosen: str | None, compared: str | None, text: str
    ) -> tuple[str, PlotData, PlotData]:
        told, said, moved = actions.of(request.session_hash).follow(chosen, compared, text)
        return told, for_page(said, "predictions_along_depth"), for_page(moved, "hidden_path")

    controls = [place, order, colour, depth, weight, prompt]
    keep_in_address(model, "model", None)
    keep_in_address(other, "other", NOBODY)
    keep_in_address(prompt, "prompt", PROMPT, on=[prompt.blur, prompt.submit])
    for name, control in {"place": place, "order": order, "colour": colour, "t": depth, "weight": weight}.items():
        keep_in_address(control, name, control.value)
    lists: dict[str, Any] = {"inputs": [model, other], "outputs": [model, other, *controls], "show_progress": "hidden"}
    opened = tab.select(shown_to_user(list_models), **lists, api_name="list_gate_models", **ON_PAGE)
    arrival.success(shown_to_user(list_models), **lists, api_name="list_gate_models_again", api_visibility="private")
    gr.on(
        [model.change, other.change, place.input, order.input, colour.input],
        shown_to_user(draw),
        [model, other, place, order, colour],
        [place, order, words, heat_map, curves, spread],
        api_name="draw_gates",
        **REDRAW,
    )
    gr.on(
        [model.change, other.change, depth.change],
        shown_to_user(draw_at_depth),
        [model, other, depth],
        at_depth,
        api_name="gates_at_depth",
        **REDRAW,
        show_progress="hidden",
    )
    drawn: dict[str, Any] = {**REDRAW, "inputs": weight, "outputs": [weight_words, similarity, norms]}
    weight.input(shown_to_user(draw_weights), **drawn, api_name="compare_weights")
    drawn = {**drawn, "api_visibility": "private"}
    opened.success(shown_to_user(draw_weights), **drawn, api_name="compare_weights_first")
    gr.on(
        [model.change, other.change, prompt.submit, go_on.click],
        shown_to_user(follow),
        [model, other, prompt],
        [path_words, predictions, path],
        api_name="hidden_path",
        **REDRAW,
    )


def read_link(link: Link, models: Sequence[str]) -> list[Any]:
    """The model, the one it is compared with, and the other controls; ValueError if a link has a value they cannot."""
    return [
        link.one_of("model", None, models),
        link.one_of("other", NOBODY, models),
        link.one_of("place", "up", NAMES),
        link.one_of("order", "value", ORDERS.values()),
        link.one_of("colour", "value", COLOURS.values()),
        link.number("t", DEPTH, 0.02, 1.0),
        link.one_of("weight", ALL_WEIGHTS, NAMES),
        link.text("prompt", PROMPT, LONGEST_PROMPT),
    ]


def _places(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(NAMES[name], name) for name in names]
