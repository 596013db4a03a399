"""The About tab."""

import gradio as gr


def build_about_tab() -> None:
    """Lay out the tab inside an open `gr.Tab`."""
    gr.Markdown("About.")
