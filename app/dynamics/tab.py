"""The Dynamics tab: eigenvalues along depth, what a prediction depends on, lenses, and how depths differ."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from app.controls import as_linked, told
from app.dynamics.actions import DynamicsActions
from app.dynamics.api import build_api
from app.dynamics.settings import EXAMPLE, LONGEST_TEXT, SHOWN, Choice
from app.errors import shown_to_user
from app.events import CHECKED, ON_PAGE, REDRAW
from app.links import add_copy_button, keep_in_address, open_link
from app.plot_style import for_page, place_for
from app.shelf import ModelShelf
from tipshare.analysis.spectra import PRODUCTS


def build_dynamics_tab(demo: gr.Blocks, shelf: ModelShelf, tab: gr.Tab, arrival: Any) -> None:
    """Lay out the tab inside its open `gr.Tab`; views are drawn when it is opened.

    Args:
        arrival: The event of a model that was put on the shelf, whose success brings it into the list.
    """
    actions = DynamicsActions(shelf)
    build_api(actions)
    default = Choice()
    # Whether the controls have been set from the page's address; before that nothing is drawn. The browser has it, as
    # it has the controls: the server would know earlier, while the browser still sends the empty ones.
    ready = gr.Checkbox(False, visible=False)

    gr.HTML(
        "<h2>What the weights stretch and turn</h2>"
        "<p>Eigenvalues of products of weights, of all models. Inside of the circle a direction shrinks, outside of it "
        "it grows; away from the real axis it turns.</p>"
    )
    with gr.Row():
        with gr.Column(scale=1, min_width=260):
            product = gr.Dropdown(
                [(title, name) for name, title in PRODUCTS.items()],
                value=default.product,
                label="Product of weights",
                elem_id="dynamics-product",
            )
            depth = gr.Slider(0.02, 1.0, value=default.t, step=0.02, label="Depth t", elem_id="dynamics-depth")
            spectra_words = gr.HTML(elem_id="dynamics-spectra-words")
        with gr.Column(scale=3, min_width=320):
            eigenvalues = place_for("Eigenvalues in the complex plane", "dynamics-eigenvalues")
    magnitudes = place_for("Magnitude of the eigenvalues against depth", "dynamics-magnitudes")

    gr.HTML("<h2>What happens to a text</h2>")
    with gr.Row(equal_height=True):
        model = gr.Dropdown([], label="Model", elem_id="dynamics-model", scale=1, min_width=240)
        text = gr.Textbox(
            EXAMPLE,
            label=f"Text, up to {LONGEST_TEXT} bytes",
            lines=1,
            max_length=LONGEST_TEXT,
            scale=4,
            min_width=240,
            elem_id="dynamics-input",
        )
        read = gr.Button("Read it", variant="primary", scale=1, min_width=110, elem_id="dynamics-read")
        add_copy_button("dynamics-link")
    gr.HTML(
        '<p class="note">What did this prediction depend on? Choose a byte: the bytes before it are tinted by how much '
        "the prediction after it changes with them.</p>"
    )
    with gr.Row(equal_height=True):
        with gr.Column(scale=5, min_width=320):
            sensed = gr.HTML(elem_id="dynamics-text")
        place = gr.Number(
            label="Prediction after byte", precision=0, minimum=0, scale=1, min_width=150, elem_id="dynamics-place"
        )
    sensed_words = gr.HTML(elem_id="dynamics-text-words")
    with gr.Row():
        with gr.Column(scale=4, min_width=320):
            lens_words = gr.HTML(elem_id="dynamics-lens-words")
        shown = gr.Dropdown(
            list(SHOWN.items()),
            value=default.shown,
            label="Lens shows",
            scale=1,
            min_width=300,
            elem_id="dynamics-shown",
        )
    lens = place_for("If the model stopped at this depth", "dynamics-lens")
    stream_words = gr.HTML(elem_id="dynamics-stream-words")
    with gr.Row():
        updates = place_for("What every depth step changes", "dynamics-updates")
        alignment = place_for("Similarity of the hidden states of two depths (CKA)", "dynamics-alignment")

    def fill(request: gr.Request) -> tuple:
        """The controls as the page's address says, or as usual if it says nothing or something wrong."""
        choices = shelf.of(request.session_hash).choices()
        names = [name for _, name in choices]
        choice = open_link(request, "dynamics", lambda link: Choice.of_link(link, names))
        chosen = choice.model or next(iter(names), None)

        def values(of: Choice) -> list[Any]:
            return [of.product, of.t, of.text, of.shown]

        product, t, words, what = as_linked(values(choice), values(Choice()))
        return True, product, t, gr.update(choices=choices, value=chosen), words, choice.place, what

    def list_models(request: gr.Request, chosen: str | None) -> dict:
        choices = shelf.of(request.session_hash).choices()
        names = [name for _, name in choices]
        return gr.update(choices=choices, value=chosen if chosen in names else next(iter(names), None))

    def draw_spectra(request: gr.Request, name: str, t: float) -> tuple:
        views = actions.of(request.session_hash).spectra(name, t)
        figures = {"eigenvalues": views.eigenvalues, "eigenvalue_magnitudes": views.magnitudes}
        return views.words, *(for_page(figure, file) for file, figure in figures.items())

    def draw_sensed(request: gr.Request, chosen: str | None, words: str, at: float | None) -> tuple:
        views = actions.of(request.session_hash).sensed(chosen, words, at)
        return views.text, told(at, views.place), views.words

    def draw_text(request: gr.Request, chosen: str | None, words: str, what: str) -> tuple:
        views = actions.of(request.session_hash).figures(chosen, words, what)
        return (
            views.lens_words,
            for_page(views.lens, "lens"),
            views.stream_words,
            for_page(views.updates, "updates"),
            for_page(views.alignment, "cka"),
        )

    def draw_at(request: gr.Request, chosen: str | None, words: str, at: float | None, what: str) -> tuple:
        return *draw_sensed(request, chosen, words, at), *draw_text(request, chosen, words, what)

    def draw_new(request: gr.Request, chosen: str | None, words: str, what: str) -> tuple:
        return draw_at(request, chosen, words, None, what)

    def when_ready(draw: Callable[..., tuple], outputs: list[Any], *, is_arrival: bool) -> Callable[..., tuple]:
        """The drawing, once the controls are set; on arrival only if the address opens this tab."""

        def drawn(request: gr.Request, is_ready: bool, *values: Any) -> tuple:
            is_here = not is_arrival or request.query_params.get("tab") == "dynamics"
            return draw(request, *values) if is_ready and is_here else (gr.skip(),) * len(outputs)

        return drawn

    weight_views = [spectra_words, eigenvalues, magnitudes]
    sensed_views = [sensed, place, sensed_words]
    text_views = [lens_words, lens, stream_words, updates, alignment]
    controls = [product, depth, model, text, place, shown]
    for name, control in {"product": product, "t": depth, "place": place, "shown": shown}.items():
        keep_in_address(control, name, control.value)
    keep_in_address(model, "model", None, forget=("place",))
    keep_in_address(text, "text", default.text, forget=("place",), on=[text.submit, read.click])

    filled = demo.load(fill, None, [ready, *controls], api_name="open_dynamics", **CHECKED)
    # The weights first: they are there while the text is still read.
    for event, is_arrival, name in (
        (filled.success, True, "dynamics_on_arrival"),
        (tab.select, False, "draw_dynamics"),
    ):
        first = when_ready(draw_spectra, weight_views, is_arrival=is_arrival)
        read_text = when_ready(draw_at, [*sensed_views, *text_views], is_arrival=is_arrival)
        event(shown_to_user(first), [ready, product, depth], weight_views, api_name=name, **ON_PAGE).success(
            shown_to_user(read_text),
            [ready, model, text, place, shown],
            [*sensed_views, *text_views],
            api_name=f"{name}_text",
            **ON_PAGE,
        )
    for number, event in enumerate((tab.select, arrival.success)):
        event(
            shown_to_user(list_models),
            model,
            model,
            api_name=f"list_dynamics_models_{number}",
            api_visibility="private",
            show_progress="hidden",
        )
    gr.on(
        [product.input, depth.change],
        shown_to_user(draw_spectra),
        [product, depth],
        weight_views,
        api_name="draw_spectra",
        **REDRAW,
        show_progress="hidden",
    )
    gr.on(
        [model.input, text.submit, read.click],
        shown_to_user(draw_new),
        [model, text, shown],
        [*sensed_views, *text_views],
        api_name="draw_text_dynamics",
        **REDRAW,
    )
    shown.input(
        shown_to_user(draw_text),
        [model, text, shown],
        text_views,
        api_name="draw_lens",
        **REDRAW,
    )
    place.input(
        shown_to_user(draw_sensed),
        [model, text, place],
        sensed_views,
        api_name="draw_sensitivity",
        **REDRAW,
    )
