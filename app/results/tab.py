"""The Results tab: headline, controls, table and figures, all from records."""

import html
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from app.errors import in_words, shown_to_user
from app.events import ON_PAGE
from app.plot_style import for_page
from app.results.actions import FIGURES, control, curves, show, table_groups
from app.results.data import EVERY_CORPUS, YOURS, Source, all_groups, choose, corpora, mark_as_yours
from app.results.files import write_figure_data, write_figure_pdf, write_table
from app.results.tables import COLUMNS, TYPES
from app.results.uploads import read_upload

# The link has its address a moment after the event ends.
PRESS = "() => setTimeout(() => document.querySelector('#results-file').click(), 80)"
TITLES = {
    "loss": "Loss by model, with 95 % interval and seeds",
    "loss_against_parameters": "Loss against stored parameters",
    "learning_curves": "Learning curves",
    "step_time": "Time per training step",
    "significance": "Do the models differ? Row minus column",
    "ablation_grid": "Where weights come from, by what follows attention",
    "depth_steps": "Loss against depth steps",
}


def build_results_tab(tab: gr.Tab) -> None:
    """Lay out the tab inside its open `gr.Tab`; it is filled when it is opened."""
    brought = gr.State([])
    headline = gr.HTML(elem_id="results-headline")
    with gr.Row():
        corpus = gr.Dropdown([("all", EVERY_CORPUS)], value=EVERY_CORPUS, label="Corpus", elem_id="results-corpus")
        recipe = gr.Dropdown([], label="Recipe", elem_id="results-recipe", scale=2, min_width=240)
        source = gr.Radio(
            ["measured", "published", "both"], value="measured", label="Show", scale=2, elem_id="results-source"
        )
    models = gr.CheckboxGroup([], label="Models", elem_id="results-models")
    published = gr.HTML(elem_id="results-published", visible=False)
    table = gr.Dataframe(
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
        table_csv = gr.Button("Table as CSV", size="sm", elem_id="results-csv")
        table_latex = gr.Button("Table as LaTeX", size="sm", elem_id="results-latex")
    notes = gr.HTML(elem_id="results-notes")
    plots, pdfs, data = {}, {}, {}

    def figure(name: str) -> None:
        plots[name] = gr.Plot(label=TITLES[name], elem_id=f"results-{name}", elem_classes="figure")
        with gr.Row(elem_classes="figure-files"):
            pdfs[name] = gr.Button("PDF", size="sm", elem_id=f"results-{name}-pdf")
            data[name] = gr.Button("CSV", size="sm", elem_id=f"results-{name}-csv")

    for pair in (("loss", "loss_against_parameters"), ("learning_curves", "step_time")):
        with gr.Row():
            for name in pair:
                with gr.Column(min_width=320):
                    figure(name)
                    if name == "learning_curves":
                        with gr.Row():
                            which = gr.Radio(["validation", "training"], value="validation", label="Loss of")
                            window = gr.Slider(1, 25, value=1, step=1, label="Smoothing: points averaged")
    with gr.Row():
        with gr.Column(min_width=320):
            figure("significance")
        with gr.Column(min_width=320):
            significance = gr.HTML(elem_id="results-significance-words")
    with gr.Row():
        for name in ("ablation_grid", "depth_steps"):
            with gr.Column(min_width=320):
                figure(name)
    with gr.Accordion("Compare with your own runs", open=False, elem_id="results-upload"):
        upload = gr.File(label="Your runs.jsonl, as `python -m training train` writes it", file_types=[".jsonl"])
        upload_note = gr.HTML(elem_id="results-upload-note")
    # Browsers download what a link points to: buttons put a file behind this one and press it.
    file = gr.DownloadButton("File", visible="hidden", elem_id="results-file")

    def refresh(records: list[str], place: str, name: str | None, labels: list[str]) -> tuple:
        found = all_groups(records)
        places = corpora(found)
        place = place if place in places else EVERY_CORPUS
        # What a visitor brings is shown without another click.
        yours = [label for group in found for label in group.labels if label.endswith(YOURS)]
        shown = control(found, name, place, [*labels, *yours] if labels else None)
        return (
            gr.update(choices=[("all", EVERY_CORPUS), *((each, each) for each in places)], value=place),
            gr.update(choices=shown.groups, value=shown.group),
            gr.update(choices=shown.models, value=shown.chosen),
        )

    def change_recipe(records: list[str], place: str, name: str | None) -> tuple:
        shown = control(all_groups(records), name, place, None)
        return gr.update(choices=shown.groups, value=shown.group), gr.update(choices=shown.models, value=shown.chosen)

    def draw(
        records: list[str],
        place: str,
        name: str | None,
        labels: list[str],
        shown: Source,
        every: bool,
        loss_of: str,
        points: int,
    ) -> tuple[Any, ...]:
        results = show(
            all_groups(records),
            name,
            labels,
            shown,
            every_recipe=every,
            corpus=place,
            which=loss_of,
            window=int(points),
        )
        why = gr.update(value=results.published, visible=bool(results.published))
        texts = (results.headline, results.table, results.notes, why, results.significance)
        return (*texts, *(for_page(results.figures[each], each) for each in plots))

    def draw_curves(records, name, labels, shown: Source, loss_of: str, points: int):
        figure = curves(choose(all_groups(records), name, labels, shown), loss_of, int(points))
        return for_page(figure, "learning_curves")

    def take(path: str | None) -> tuple[list[str], str]:
        if path is None:
            return [], ""
        try:
            records = mark_as_yours(read_upload(Path(path)))
        except ValueError as error:
            # Beside the file it stays readable until another is chosen.
            return [], f'<p class="finding"><em>This file cannot be used.</em> {html.escape(in_words(error))}</p>'
        kinds = len({record.model for record in records})
        # As text: Gradio hashes what it keeps, and a record holds objects that have no hash.
        models = f"{kinds} model{'s' if kinds > 1 else ''}"
        words = f"Runs read: {len(records)}, of {models}, marked “(yours)” in the lists above."
        words += " They stay with this page and are forgotten when you leave."
        return [record.to_json() for record in records], f'<p class="finding">{words}</p>'

    def save_table(form: str, records, place: str, name, labels, shown: Source, every: bool):
        choice = choose(all_groups(records), name, labels, shown)
        return str(write_table(choice, table_groups(choice, every, place), form, Path(file.GRADIO_CACHE)))

    def save_figure(write, figure: str, records, name, labels, shown: Source):
        return str(write(choose(all_groups(records), name, labels, shown), figure, Path(file.GRADIO_CACHE)))

    chosen = [brought, recipe, models, source]
    everything = [brought, corpus, recipe, models, source, every_recipe, which, window]
    shown = [headline, table, notes, published, significance, *plots.values()]
    selected = [brought, corpus, recipe, models]
    gr.on(
        [tab.select, brought.change],
        shown_to_user(refresh),
        selected,
        [corpus, recipe, models],
        api_name="list_results",
        **ON_PAGE,
        show_progress="hidden",
    )
    gr.on(
        [corpus.input, recipe.input],
        shown_to_user(change_recipe),
        [brought, corpus, recipe],
        [recipe, models],
        api_name="choose_recipe",
        **ON_PAGE,
        show_progress="hidden",
    )
    gr.on(
        [models.change, source.change, every_recipe.change, recipe.change],
        shown_to_user(draw),
        everything,
        shown,
        api_name="results",
        **ON_PAGE,
        trigger_mode="always_last",
    )
    gr.on(
        [which.change, window.change],
        shown_to_user(draw_curves),
        [*chosen, which, window],
        plots["learning_curves"],
        api_name="learning_curves",
        **ON_PAGE,
        trigger_mode="always_last",
        show_progress="hidden",
    )
    upload.change(take, upload, [brought, upload_note], api_name="upload_records", **ON_PAGE, show_progress="hidden")
    table_inputs = [brought, corpus, recipe, models, source, every_recipe]
    for button, form, name in ((table_csv, "csv", "table_csv"), (table_latex, "tex", "table_latex")):
        _download(button, partial(save_table, form), table_inputs, file, name)
    for name in FIGURES:
        _download(pdfs[name], partial(save_figure, write_figure_pdf, name), chosen, file, f"{name}_pdf")
        _download(data[name], partial(save_figure, write_figure_data, name), chosen, file, f"{name}_csv")


def _download(button: gr.Button, save: Any, inputs: list, file: gr.DownloadButton, api_name: str) -> None:
    """Let a button make a file and hand it to the browser."""
    made = button.click(shown_to_user(save), inputs, file, api_name=api_name, show_progress="hidden", **ON_PAGE)
    made.success(None, None, None, js=PRESS, api_name=f"{api_name}_pressed", api_visibility="private")
