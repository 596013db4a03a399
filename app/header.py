"""The header of the page: its title, and loading another model."""

from typing import Any

import gradio as gr

from app.controls import text
from app.errors import shown_to_user
from app.events import ON_PAGE
from app.generate.cards import show_line
from app.shelf import ModelShelf
from app.shelf.limits import in_words as limits

TITLE = "<h1>tipshare</h1><p>One block, every depth: <code>W(t) = W · σ(g(t))</code></p>"


def about_loading(use_login: bool) -> str:
    """Who sees a loaded model, what is taken, and whose eyes the Hub is read with."""
    reach = (
        "Attention: the operator of this page lends its Hub login, so private repositories that it can read load for "
        "every visitor who names them."
        if use_login
        else "Public repositories load; the page uses no Hub login."
    )
    return f"A loaded model is in your lists alone and goes when you leave. The page takes {limits()}. {reach}"


def build_header(shelf: ModelShelf) -> Any:
    """Lay out the header; returns the event that loads a model."""

    def load_model(
        request: gr.Request,
        source: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> str:
        """Load a model; returns what it is.

        Args:
            source: A Hub id (organisation/name), or the name of a bundled model.
        """
        mine, source = shelf.of(request.session_hash), text("source", source)
        progress(0.1, desc=f"Looking for {source.strip()[:80]}")
        name = mine.add(source)
        progress(0.6, desc="Reading the weights")
        entry = mine.get(name)
        return show_line(f"Loaded: {entry.label}, {entry.stored:,} parameters.")

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
            gr.HTML(f'<p class="note">{about_loading(shelf.use_login)}</p>', elem_id="load-about")
            note = gr.HTML(show_line(""), elem_id="load-note")
    return gr.on(
        [fetch.click, source.submit],
        shown_to_user(load_model),
        source,
        note,
        api_name="load_from_hub",
        **ON_PAGE,
        show_progress="full",
        show_progress_on=note,
    )
