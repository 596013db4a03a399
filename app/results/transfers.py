"""Files that a visitor takes from the tab, and the records that they bring to it."""

import html
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from app.errors import in_words, shown_to_user
from app.events import ON_PAGE
from app.results.actions import table_selections
from app.results.files import write_figure, write_table
from app.results.uploads import NOTHING, Uploads
from app.results.words import uploaded_html
from training.results.selection import Selection

# Tables and figures of all visitors: two at a time.
HERE: dict[str, Any] = {**ON_PAGE, "concurrency_id": "results", "concurrency_limit": 2}
# The link has its address a moment after the event ends.
PRESS = "() => setTimeout(() => document.querySelector('#results-file').click(), 80)"


def add_downloads(
    tables: dict[str, gr.Button],
    figures: dict[tuple[str, str], gr.Button],
    selected: Callable[..., Selection],
    chosen: Sequence[Any],
    of_table: Sequence[Any],
) -> None:
    """Let buttons make files and hand them to the browser.

    Args:
        tables: By the form of the file.
        figures: By the name of the figure and the form of the file.
        selected: Takes the values of the controls `chosen`.
        of_table: The controls for the corpus, and for all recipes, which say what else is in the table.
    """
    # Browsers download what a link points to: buttons put a file behind this one and press it.
    file = gr.DownloadButton("File", visible="hidden", elem_id="results-file")
    folder = Path(file.GRADIO_CACHE)

    def save_table(form: str, place: str, every: bool, *values: Any) -> str:
        return str(write_table(table_selections(selected(*values), every, place), form, folder))

    def save_figure(figure: str, form: str, *values: Any) -> str:
        return str(write_figure(selected(*values), figure, form, folder))

    def add(button: gr.Button, save: Callable[..., str], inputs: Sequence[Any], name: str) -> None:
        made = button.click(
            shown_to_user(save), inputs, file, api_name=name, show_progress="hidden", preprocess=False, **HERE
        )
        made.success(None, None, None, js=PRESS, api_name=f"{name}_pressed", api_visibility="private")

    for (form, button), name in zip(tables.items(), ("table_csv", "table_latex"), strict=True):
        add(button, partial(save_table, form), [*of_table, *chosen], name)
    for (figure, form), button in figures.items():
        add(button, partial(save_figure, figure, form), chosen, f"{figure}_{form}")


def build_upload_section(uploads: Uploads, uploaded: gr.State) -> None:
    """Lay out what reads a visitor's own runs; `uploaded` is then the name of the upload."""
    with gr.Accordion("Compare with your own runs", open=False, elem_id="results-upload"):
        upload = gr.File(label="Your runs.jsonl, as `python -m training train` writes it", file_types=[".jsonl"])
        note = gr.HTML(elem_id="results-upload-note")

    def take(request: gr.Request, given: dict[str, Any] | None) -> tuple[str, str]:
        visitor = str(request.session_hash)
        if given is None:
            uploads.forget(visitor)
            return NOTHING, ""
        try:
            name, records = uploads.take(visitor, Path(given["path"]))
        except ValueError as error:
            # Beside the file it stays readable until another is chosen.
            return NOTHING, f'<p class="finding"><em>This file cannot be used.</em> {html.escape(in_words(error))}</p>'
        return name, uploaded_html(records)

    upload.change(
        take,
        upload,
        [uploaded, note],
        api_name="upload_records",
        # With it, Gradio would leave an empty file behind.
        preprocess=False,
        **HERE,
        show_progress="hidden",
    )
