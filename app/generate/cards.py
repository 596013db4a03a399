"""The card of a model: its name, size, loss and speed, its text as it grows, and its progress."""

import re
from collections.abc import Sequence
from typing import Any

import gradio as gr

from app.errors import in_words
from app.generate.dial import depth_in_words, loss_at, steps_of
from app.generate.measured import Measured
from app.generate.streaming import Column
from app.generate.tinted import STEPS, escape
from app.shelf import Listing, ModelShelf
from app.style import dot_of
from training.results.formatting import count_in_words

# Characters of the prompt that a card shows before the text.
PROMPT_TAIL = 160

# The cards are drawn by `tab.js`: a text belongs to its model by name, whatever is chosen meanwhile.
LAY_OUT = """
const draw = () => window.tipshare.cards.layOut(element, props.value);
draw();
watch("value", draw);
"""
# Updates that come faster than the browser draws are put on the page together.
GROW = """
let isPlanned = false;
const grow = () => {
  isPlanned = false;
  window.tipshare.cards.update(props.value);
};
grow();
watch("value", () => {
  if (!isPlanned) setTimeout(grow, 30);
  isPlanned = true;
});
"""


def build_cards(value: Any) -> tuple[gr.HTML, gr.HTML]:
    """Two components: which cards there are, as of `lay_out`; and, unseen, the texts that stream into them."""
    # The values are not part of the templates: Gradio would compare all texts with the page at every update.
    cards = gr.HTML(value, html_template='<div class="cards"></div>', js_on_load=LAY_OUT, elem_id="cards")
    stream = gr.HTML(None, html_template="<span></span>", js_on_load=GROW, visible="hidden", elem_id="stream")
    return cards, stream


def lay_out(shelf: ModelShelf, measured: Measured, names: Sequence[str], steps: int, note: str = "") -> dict[str, Any]:
    """The cards of some models at a number of depth steps, and what the status line says about the choice."""
    cards = [
        {"name": name, "label": shelf.label(name), "head": show_head(shelf, measured, name, steps)} for name in names
    ]
    return {"cards": cards, "note": note}


def show_head(shelf: ModelShelf, measured: Measured, name: str, steps: int) -> str:
    """A model's name, its size, and its loss and speed at a depth; or why it cannot be read."""
    try:
        listing = shelf.describe(name)
        return _head(listing, steps_of(listing, steps), measured)
    except ValueError as error:
        problem = f'<p class="problem">{escape(in_words(error))}</p>'
        return f'<div class="card-head"><h3>{escape(shelf.label(name))}</h3>{problem}</div>'


def bare_cards(shelf: ModelShelf, names: Sequence[str]) -> dict[str, Any]:
    """The names alone, before the checkpoints are opened."""
    head = '<div class="card-head"><h3>{}</h3><p class="facts">&nbsp;</p></div>'
    labels = {name: shelf.label(name) for name in names}
    cards = [{"name": name, "label": label, "head": head.format(escape(label))} for name, label in labels.items()]
    return {"cards": cards, "note": ""}


def _head(listing: Listing, steps: int, measured: Measured) -> str:
    stored, effective = count_in_words(listing.stored), count_in_words(listing.effective)
    size = f"{stored} parameters" if stored == effective else f"{stored} stored → {effective} in use"
    sizes = f"{listing.stored:,} parameters are stored; one pass reads {listing.effective:,}"
    loss, speed = loss_at(listing, steps), measured.speed(listing.name, steps)
    depth = depth_in_words(listing, steps)
    if loss is not None:
        told = f"{loss:.3f} nats/byte"
    else:
        told = "loss not recorded" if listing.loss is None else "loss not measured at this depth"
    facts = (
        (sizes, size),
        ("Depth steps of one pass. The dial sets them, unless every layer has weights of its own", depth),
        (f"Validation loss at this depth ({depth}), from the record of the run that made the weights", told),
        (
            f"Bytes per second at this depth ({depth}), measured on this server without compiling",
            "speed not measured yet" if speed is None else f"{speed:,.0f} B/s",
        ),
    )
    shown = "".join(f'<span title="{escape(about)}">{escape(fact)}</span>' for about, fact in facts)
    title = f"{dot_of(listing.kind)}<h3>{escape(listing.label)}</h3>"
    return f'<div class="card-head">{title}<p class="facts">{shown}</p></div>'


def show_prompt(prompt: str) -> str:
    """The end of the prompt, before the generated text."""
    tail = prompt[-PROMPT_TAIL:]
    cut = "…" if len(prompt) > len(tail) else ""
    return f'<span class="prompt">{cut}{escape(tail)}</span>' if tail else ""


def show_texts(prompt: str, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """What the models wrote after a prompt, as the cards take it."""
    head = show_prompt(prompt)
    return [
        {"name": each.name, "text": head + each.shown, "foot": show_foot(each), "state": each.state} for each in columns
    ]


def show_foot(column: Column) -> str:
    """State, speed and time to the first byte, and a note if the prompt is longer than the context."""
    parts = [f'<span class="state {column.state}">{column.state}</span>']
    if column.speed is not None:
        parts.append(f'<span title="Bytes per second of this model&#39;s own time">{column.speed:,.0f} B/s</span>')
    if column.first is not None:
        title = "From reading the prompt to the first bytes, of this model&#39;s own time"
        parts.append(f'<span title="{title}">first byte {_milliseconds(column.first)}</span>')
    if column.infos:
        parts.append(f"<span>{len(column.infos):,} bytes</span>")
        about = "How much this model was surprised by its own bytes, on average"
        parts.append(f'<span title="{about}">{column.bits / len(column.infos):.2f} bits/byte</span>')
        parts.append('<button type="button" data-copy aria-label="Copy the text">Copy</button>')
    note = ""
    if column.unread:
        read = f"only its last {column.context:,} bytes are read"
        note = f'<p class="note">The prompt is longer than the context: {read}.</p>'
    return f'<div class="card-foot">{"".join(parts)}</div>{note}'


def show_dots(shelf: ModelShelf) -> str:
    """A style sheet for the list of models: the dot before each has the colour of its kind."""
    names = [name for name in shelf.names() if re.fullmatch(r"[\w./-]+", name, re.ASCII)]
    rules = [f'#models input[name="{name}"] + span::before {{ background: {shelf.colour(name)}; }}' for name in names]
    return f"<style>{' '.join(rules)}</style>"


def show_line(text: str) -> str:
    """A status line, which screen readers read aloud when it changes."""
    return f'<p role="status">{escape(text)}</p>'


def show_legend() -> str:
    """The legend of the tints."""
    swatches = "".join(f'<b class="t{number}">{least:g}</b>' for number, least in enumerate(STEPS))
    return f'<p class="legend">bits of surprise {swatches}</p>'


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
