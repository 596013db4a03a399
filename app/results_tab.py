"""The Results tab."""

import gradio as gr


def build_results_tab(tab: gr.Tab) -> None:
    """Lay out the tab inside an open `gr.Tab`."""
    del tab
    gr.Markdown("Results.")
