"""The About tab: the idea, the models compared, and how to use them elsewhere."""

import html
from collections.abc import Sequence
from pathlib import Path

import gradio as gr

import tipshare
from app.about.picture import draw_model
from app.shelf import ModelShelf
from app.style import dot_of
from tipshare.config import KINDS, ModelConfig
from tipshare.kinds import mixer_of, rank_of, source_title, summary_of, title_of
from training.results.formatting import count_in_words
from training.results.rows import plain_parameters

HERE = Path(__file__).parent

HEADINGS = ("Model", "Weights at depth t", "Mixer", "Step", "Stored", "In use", "Against plain", "Gates", "Generators")


def build_about_tab(shelf: ModelShelf) -> None:
    """Lay out the tab inside an open `gr.Tab`."""
    configs = shown_configs(shelf)
    idea, use = (HERE / "idea.html").read_text("utf-8"), (HERE / "use.md").read_text("utf-8")
    with gr.Column(elem_id="about"):
        gr.HTML(f"<h2>One block, every depth</h2>{idea}")
        gr.HTML(
            f'<h2>Where the weights at each depth come from</h2><div class="drawings">{picture_kinds(configs)}</div>'
        )
        gr.HTML(f"<h2>The models compared</h2>{compare_kinds(configs)}")
        gr.Markdown(use.replace("VERSION", tipshare.__version__))


def shown_configs(shelf: ModelShelf) -> list[ModelConfig]:
    """Every kind as the page's own model of it is, or at its default fields, in the order of every list."""
    configs = {kind: KINDS[kind]() for kind in sorted(KINDS, key=rank_of)}
    for each in reversed(list(shelf.listings())):
        configs[each.kind] = each.config
    return list(configs.values())


def picture_kinds(configs: Sequence[ModelConfig]) -> str:
    """A picture and a sentence for every kind."""
    return "".join(
        f"<figure>{draw_model(config)}<figcaption><h3>{_name(config)}</h3><p>{_sentence(config)}</p></figcaption></figure>"
        for config in configs
    )


def compare_kinds(configs: Sequence[ModelConfig]) -> str:
    """A table of the kinds; every number is counted from the config."""
    head = "".join(f'<th scope="col">{each}</th>' for each in HEADINGS)
    rows = "".join(map(_row, configs))
    config = configs[0]
    sizes = (
        f"The models of this page: {config.num_layers} depth steps, width {config.hidden_dim}, "
        f"{config.num_heads} heads, context {config.max_position_embeddings} bytes. <b>Stored</b>: what a checkpoint "
        "holds. <b>In use</b>: what one pass reads once the weights of all depth steps are worked out. <b>Against "
        "plain</b>: stored, beside a plain transformer of the same width and depth."
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    label = "The models compared"
    return f'<div class="scrolls" tabindex="0" role="group" aria-label="{label}">{table}</div><p>{sizes}</p>'


def _name(config: ModelConfig) -> str:
    return f"{dot_of(config.kind)} {html.escape(title_of(config.kind))}"


def _sentence(config: ModelConfig) -> str:
    words = summary_of(config)
    return html.escape(words[0].upper() + words[1:] + ".")


def _row(config: ModelConfig) -> str:
    stored, used = tipshare.count_parameters(config), tipshare.count_parameters(config, frozen=True)
    ratio = plain_parameters(config) / stored.total
    against = "the same" if ratio == 1 else f"{ratio:.1f}x fewer" if ratio > 1 else f"{1 / ratio:.1f}x more"
    words = [source_title(config.weights), mixer_of(config), "Euler, 1/L" if config.step == "euler" else "residual"]
    counts = [*map(count_in_words, (stored.total, used.total)), against]
    counts += [count_in_words(each) if each else "none" for each in (stored.gates, stored.generators)]
    cells = "".join(f"<td>{html.escape(each)}</td>" for each in words)
    cells += "".join(f'<td class="number">{each}</td>' for each in counts)
    return f'<tr><th scope="row">{_name(config)}</th>{cells}</tr>'
