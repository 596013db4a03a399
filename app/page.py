"""The page as a whole."""

import gradio as gr

import tipshare

COLUMNS = ["Kind", "Weights", "Mixer", "Step", "Stored", "Used by one pass", "Gates", "Generators"]


def build_demo() -> gr.Blocks:
    """The demo, ready to launch."""
    with gr.Blocks(title="tipshare", analytics_enabled=False) as demo:
        gr.Markdown("# tipshare\nOne block, every depth: `W(t) = W * sigmoid(g(t))`.")
        gr.Dataframe(
            value=list_kinds(), headers=COLUMNS, label="Model kinds and their parameters", interactive=False, wrap=True
        )
    return demo


def list_kinds() -> list[list[str]]:
    """A row per model kind: what it is made of, and its parameters by part."""
    rows = []
    for kind, config in tipshare.PRESETS["default"].items():
        stored = tipshare.count_parameters(config)
        used = tipshare.count_parameters(config, frozen=True)
        choices = [config.weights, config.mixer, config.step]
        rows.append([kind, *choices, *(f"{n:,}" for n in (stored.total, used.total, stored.gates, stored.generators))])
    return rows
