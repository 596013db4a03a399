"""The About tab: the idea, the four models compared, and how to use them elsewhere."""

from pathlib import Path

import gradio as gr

import tipshare
from app.about.picture import draw_kind
from app.generate.cards import dot_of
from tipshare.config import ModelConfig
from tipshare.kinds import LOOKS
from training.report.tables import count_in_words
from training.results.rows import plain_parameters

HERE = Path(__file__).parent

WORDS = {
    "standard": "Every layer owns its weights: the plain baseline.",
    "neural-ode": "A hypernetwork writes all weights from t; the blocks are Euler steps of a differential equation.",
    "time-indexed-mlp": "One shared block, attention and a narrow MLP; gates of t open and close its units.",
    "time-indexed-ssm": "One shared block, attention and a selective state space; A, B, C, D and Δ are gated too.",
}

HEADINGS = ("Model", "Weights at depth t", "Mixer", "Step", "Stored", "In use", "Against plain", "Gates", "Generators")


def build_about_tab() -> None:
    """Lay out the tab inside an open `gr.Tab`."""
    idea, use = (HERE / "idea.html").read_text("utf-8"), (HERE / "use.md").read_text("utf-8")
    with gr.Column(elem_id="about"):
        gr.HTML(f"<h2>One block, every depth</h2>{idea}")
        gr.HTML(f'<h2>Four ways of owning weights along depth</h2><div class="drawings">{_drawings()}</div>')
        gr.HTML(f"<h2>The four models compared</h2>{compare_kinds()}")
        gr.Markdown(use.replace("VERSION", tipshare.__version__))


def compare_kinds() -> str:
    """A table of the kinds at their default sizes; every number is counted from the config."""
    head = "".join(f'<th scope="col">{each}</th>' for each in HEADINGS)
    rows = "".join(_row(kind, tipshare.preset(kind)) for kind in LOOKS)
    config = tipshare.preset("standard")
    sizes = (
        f"Default sizes: {config.num_layers} depth steps, width {config.hidden_dim}, {config.num_heads} heads, "
        f"context {config.max_position_embeddings} bytes. <b>Stored</b>: what a checkpoint holds. <b>In use</b>: what "
        "one pass reads once the weights of all depth steps are worked out. <b>Against plain</b>: stored, beside a "
        "plain transformer of the same width and depth."
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    label = "The four models compared"
    return f'<div class="scrolls" tabindex="0" role="group" aria-label="{label}">{table}</div><p>{sizes}</p>'


def _row(kind: str, config: ModelConfig) -> str:
    stored, used = tipshare.count_parameters(config), tipshare.count_parameters(config, frozen=True)
    ratio = plain_parameters(config) / stored.total
    against = "the same" if ratio == 1 else f"{ratio:.1f}x fewer" if ratio > 1 else f"{1 / ratio:.1f}x more"
    mixer = f"MLP, {config.mlp_ratio:g}x" if config.mixer == "mlp" else f"state space, {config.state_dim} states"
    words = [config.weights, mixer, "Euler, 1/L" if config.step == "euler" else "residual"]
    counts = [*map(count_in_words, (stored.total, used.total)), against]
    counts += [count_in_words(each) if each else "none" for each in (stored.gates, stored.generators)]
    cells = "".join(f"<td>{each}</td>" for each in words) + "".join(
        f'<td class="number">{each}</td>' for each in counts
    )
    return f'<tr><th scope="row">{dot_of(kind)} {LOOKS[kind].title}</th>{cells}</tr>'


def _drawings() -> str:
    return "".join(
        f"<figure>{draw_kind(kind)}<figcaption><h3>{dot_of(kind)} {LOOKS[kind].title}</h3>"
        f"<p>{WORDS[kind]}</p></figcaption></figure>"
        for kind in LOOKS
    )
