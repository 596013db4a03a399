"""The Results tab."""

import gradio as gr


def build_results_tab() -> None:
    """Lay out the tab inside an open `gr.Tab`."""
    gr.Markdown("Results.")
