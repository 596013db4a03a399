"""The Results tab: headline, controls, table and figures, all from records."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr

from app.controls import texts, told
from app.errors import shown_to_user
from app.links import add_copy_button, keep_in_address, open_link
from app.plot_style import for_page
from app.results.actions import begin, control
from app.results.api import build_api
from app.results.choices import CURVES, MOST_AVERAGED, ResultsChoice, read_link
from app.results.data import EVERY_CORPUS, choose
from app.results.figures import draw
from app.results.tables import COLUMNS, TYPES
from app.results.transfers import HERE, add_downloads, build_upload_section
from app.results.uploads import NOTHING, Uploads
from training.results.selection import Selection
from training.results.views.curves import curves_view
from training.results.views.losses import parameters_view

TITLES = {
    "loss": "Loss by model, with 95 % interval and seeds",
    "loss_against_parameters": "Loss against what a model costs",
    "learning_curves": "Learning curves",
    "step_time": "Time per training step",
    "significance": "Do the models differ? Row minus column",
    "ablation_grid": "Where weights come from, by what follows attention",
    "depth_steps": "Loss against depth steps",
}


def build_results_tab(tab: gr.Tab, uploads: Uploads) -> None:
    """Lay out the tab inside its open `gr.Tab`; it is filled when it is opened."""
    build_api()
    # The name of what the visitor uploaded.
    uploaded = gr.State(NOTHING)
    # The recipe whose models are listed, and the upload they were listed with.
    listed = gr.State((None, NOTHING))
    # What stands above the first figure is there from the beginning, so that nothing moves when the tab is drawn.
    first, words, lines = begin()
    headline = gr.HTML(words, elem_id="results-headline")
    with gr.Row():
        corpus = gr.Dropdown(
            [("all", EVERY_CORPUS), *((each, each) for each in first.corpora)],
            value=first.corpus,
            label="Corpus",
            elem_id="results-corpus",
            min_width=120,
        )
        recipe = gr.Dropdown(
            first.groups, value=first.group, label="Recipe", elem_id="results-recipe", scale=3, min_width=300
        )
        source = gr.Radio(
            ["measured", "published", "both"],
            value="measured",
            label="Show",
            scale=2,
            min_width=310,
            elem_id="results-source",
        )
        unit = gr.Radio(
            [("nats per byte", "nats"), ("bits per byte", "bits")],
            value="nats",
            label="Unit",
            min_width=280,
            elem_id="results-unit",
        )
    models = gr.CheckboxGroup(first.models, value=first.chosen, label="Models", elem_id="results-models")
    published = gr.HTML(elem_id="results-published", visible=False)
    plots, files = {}, {}

    def figure(name: str) -> None:
        plots[name] = gr.Plot(label=TITLES[name], elem_id=f"results-{name}", elem_classes="figure")
        with gr.Row(elem_classes="figure-files"):
            for form in ("pdf", "csv"):
                files[name, form] = gr.Button(form.upper(), size="sm", elem_id=f"results-{name}-{form}")

    figure("loss_against_parameters")
    against = gr.Radio(
        [("stored parameters", "parameters"), ("operations (FLOPs)", "flops"), ("measured time", "step_ms")],
        value="parameters",
        label="Loss against",
        elem_id="results-against",
    )
    table = gr.Dataframe(
        lines,
        headers=list(COLUMNS),
        datatype=TYPES,
        label="Results",
        show_label=False,
        interactive=False,
        show_search="search",
        pinned_columns=1,
        max_height=420,
        elem_id="results-table",
    )
    with gr.Row(elem_classes="figure-files"):
        every_recipe = gr.Checkbox(label="All recipes in the table", container=False, elem_id="results-every")
        add_copy_button("results-link")
        table_csv = gr.Button("Table as CSV", size="sm", elem_id="results-csv")
        table_latex = gr.Button("Table as LaTeX", size="sm", elem_id="results-latex")
    notes = gr.HTML(elem_id="results-notes")
    with gr.Row():
        with gr.Column(min_width=320):
            figure("loss")
        with gr.Column(min_width=320):
            figure("learning_curves")
            with gr.Row():
                which = gr.Radio(CURVES, value=CURVES[0], label="Loss of", elem_id="results-curve")
                window = gr.Slider(1, MOST_AVERAGED, value=1, step=1, label="Smoothing: points averaged")
    with gr.Row():
        with gr.Column(min_width=320):
            figure("significance")
        with gr.Column(min_width=320):
            significance = gr.HTML(elem_id="results-significance-words")
    for pair in (("ablation_grid", "depth_steps"), ("step_time",)):
        with gr.Row():
            for name in pair:
                with gr.Column(min_width=320):
                    figure(name)
    build_upload_section(uploads, uploaded)

    def update(
        request: gr.Request,
        upload_name: str,
        listed: tuple[str | None, str],
        place: str,
        name: str | None,
        labels: list[str],
        wanted: Any,
        every: bool,
        loss_of: Any,
        points: Any,
        counted_in: Any,
        cost: Any,
    ) -> tuple[Any, ...]:
        """Bring the controls and all that is shown to one state, whatever was changed."""
        board = uploads.board(upload_name)
        sent = [place, name, labels, wanted, every, loss_of, points, counted_in, cost]
        asked: Sequence[Any] = sent[3:]
        labels = texts("models", labels)
        # The list of models follows the recipe: labels of another recipe's list say nothing about this one.
        mine = labels if listed[0] == name else None
        if listed[0] is None:
            read = partial(read_link, groups=board.groups, recipe=name, others=asked)
            place, name, mine, *asked = open_link(request, "results", read)
        wanted, every, loss_of, points, counted_in, cost = asked
        choice = ResultsChoice.of_controls(wanted, loss_of, points, counted_in, cost)
        chosen = control(board.groups, name, place, mine, show_uploaded=upload_name != listed[1])
        results = board.show(
            chosen.group,
            tuple(chosen.chosen),
            every_recipe=bool(every),
            corpus=chosen.corpus,
            **choice.fields(),
        )
        places = [("all", EVERY_CORPUS), *((each, each) for each in chosen.corpora)]
        return (
            (chosen.group, upload_name),
            told(sent[0], chosen.corpus, choices=places),
            told(sent[1], chosen.group, choices=chosen.groups),
            told(sent[2], chosen.chosen, choices=chosen.models),
            results.headline,
            results.table,
            results.notes,
            gr.update(value=results.published, visible=bool(results.published)),
            results.significance,
            *(for_page(results.figures[each], each) for each in plots),
            *map(told, sent[3:], asked),
        )

    def draw_curves(*values: Any) -> Any:
        return for_page(draw(curves_view(selected(*values))), "learning_curves")

    def draw_costs(*values: Any) -> Any:
        return for_page(draw(parameters_view(selected(*values))), "loss_against_costs")

    def selected(
        upload_name: str,
        name: str | None,
        labels: list[str],
        *how: Any,
    ) -> Selection:
        choice = ResultsChoice.of_controls(*how)
        return choose(uploads.board(upload_name).groups, name, texts("models", labels), **choice.fields())

    others = [source, every_recipe, which, window, unit, against]
    names = ("show", "all", "curve", "smoothing", "unit", "against")
    for name, shown in zip(names, others, strict=True):
        keep_in_address(shown, name, shown.value)
    keep_in_address(corpus, "corpus", EVERY_CORPUS, forget=("recipe", "models"))
    keep_in_address(recipe, "recipe", None, forget=("models",))
    keep_in_address(models, "models", None)
    selection = [uploaded, recipe, models, source, which, window, unit, against]
    # One event for all controls: what is drawn and what is listed can never belong to different choices. A page that is
    # a moment behind sends values of the old lists, so Gradio must not check them against the new: `control` does.
    gr.on(
        [tab.select, uploaded.change, *(each.input for each in (corpus, recipe, models, source, every_recipe, unit))],
        shown_to_user(update),
        [uploaded, listed, corpus, recipe, models, source, every_recipe, which, window, unit, against],
        [listed, corpus, recipe, models, headline, table, notes, published, significance, *plots.values(), *others],
        api_name="show_results",
        preprocess=False,
        **HERE,
        trigger_mode="always_last",
    )
    for triggers, redraw, name in (
        ([which.change, window.change], draw_curves, "learning_curves"),
        ([against.input], draw_costs, "loss_against_parameters"),
    ):
        gr.on(
            triggers,
            shown_to_user(redraw),
            selection,
            plots[name],
            api_name=name,
            preprocess=False,
            **HERE,
            trigger_mode="always_last",
            show_progress="hidden",
        )
    tables = {"csv": table_csv, "tex": table_latex}
    add_downloads(tables, files, selected, selection, [corpus, every_recipe])
