"""The Generate tab."""

import gradio as gr

from app.shelf import ModelShelf


def build_generate_tab(shelf: ModelShelf) -> None:
    """Lay out the tab inside an open `gr.Tab`."""
    gr.Markdown(f"{len(shelf.names())} models.")
