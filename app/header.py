"""The header of the page: its title, and loading another model."""

from typing import Any

import gradio as gr

from app.errors import shown_to_user
from app.generate.cards import show_line
from app.shelf import ModelShelf

TITLE = "<h1>tipshare</h1><p>One block, every depth: <code>W(t) = W · σ(g(t))</code></p>"


def build_header(shelf: ModelShelf) -> Any:
    """Lay out the header; returns the event that loads a model."""

    def load_model(source: str, progress: gr.Progress = gr.Progress()) -> tuple[str, str]:  # noqa: B008
        """Load a model; returns its name, which the other endpoints take.

        Args:
            source: A Hub id (organisation/name), or the name of a bundled model.
        """
        progress(0.1, desc=f"Looking for {source.strip()[:80]}")
        name = shelf.add(source)
        progress(0.6, desc="Reading the weights")
        entry = shelf.get(name)
        return name, show_line(f"Loaded: {entry.label}, {entry.stored:,} parameters.")

    with gr.Row(elem_id="top"):
        gr.HTML(TITLE, elem_id="title")
        with gr.Accordion("Load a model from the Hub …", open=False, elem_id="load"):
            with gr.Row(equal_height=True):
                source = gr.Textbox(
                    label="Hub id or bundled name",
                    placeholder="organisation/name",
                    scale=4,
                    elem_id="source",
                    max_lines=1,
                )
                fetch = gr.Button("Load", min_width=80, elem_id="fetch")
            note = gr.HTML(show_line(""), elem_id="load-note")
    arrived = gr.Textbox(visible=False)
    return gr.on(
        [fetch.click, source.submit],
        shown_to_user(load_model),
        source,
        [arrived, note],
        api_name="load_model",
        show_progress="full",
        show_progress_on=note,
    )
