"""The top of the page: what this is, the models on the shelf, and how to fetch another."""

import gradio as gr

from app.errors import shown_to_user
from app.shelf import ModelShelf


def build_header(shelf: ModelShelf) -> None:
    """Lay out the header; what is fetched appears in every list of models."""

    def load(source: str, progress: gr.Progress = gr.Progress()) -> str:  # noqa: B008
        progress(0.1, desc="Looking it up")
        return shelf.add(source)

    gr.HTML("<h1>tipshare</h1><p>One block, every depth.</p>")
    source = gr.Textbox(label="Load a model: Hub id or bundled name", placeholder="organisation/name")
    loaded = gr.Textbox(label="Loaded", interactive=False)
    source.submit(shown_to_user(load), source, loaded, api_name="load_model")
