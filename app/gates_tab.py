"""The Gates tab."""

import gradio as gr

from app.shelf import ModelShelf


def build_gates_tab(shelf: ModelShelf) -> None:
    """Lay out the tab inside an open `gr.Tab`."""
    gr.Markdown(f"Gates of {len(shelf.names())} models.")
