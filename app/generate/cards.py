"""The card of a model: its name and size, its text as it grows, and its progress."""

import gradio as gr

from app.errors import in_words
from app.generate.streaming import Column
from app.generate.tinted import STEPS, escape
from app.shelf import Listing, ModelShelf
from app.style import dot_of
from training.results.formatting import count_in_words

# Characters of the prompt that a card shows before the text.
PROMPT_TAIL = 160

# The value is not part of the template: Gradio would compare the whole text with the page at every update.
TEMPLATE = (
    '<div class="written" tabindex="0" role="group" '
    'aria-label="Text of this model. Arrow keys move through it and show the probability of each byte."></div>'
)

# Updates that come faster than the browser draws are put on the page together.
GROW = """
const region = element.querySelector(".written");
let shown = "";
let isPlanned = false;
const grow = () => {
  isPlanned = false;
  const value = props.value || "";
  if (value === shown) return;
  const atEnd = region.scrollHeight - region.scrollTop - region.clientHeight < 40;
  if (value.startsWith(shown)) region.insertAdjacentHTML("beforeend", value.slice(shown.length));
  else region.innerHTML = value;
  shown = value;
  if (atEnd) region.scrollTop = region.scrollHeight;
};
grow();
watch("value", () => {
  if (!isPlanned) setTimeout(grow, 30);
  isPlanned = true;
});
"""


def build_written() -> gr.HTML:
    """A component for text that grows: an update adds to what is on the page. Its value is HTML of `tint_text`."""
    return gr.HTML("", html_template=TEMPLATE, js_on_load=GROW)


def show_head(shelf: ModelShelf, name: str) -> str:
    """A model's name, parameters and loss, or why it cannot be read."""
    try:
        return _head(shelf.describe(name))
    except ValueError as error:
        problem = f'<p class="problem">{escape(in_words(error))}</p>'
        return f'<div class="card-head"><h3>{escape(shelf.label(name))}</h3>{problem}</div>'


def show_bare_head(shelf: ModelShelf, name: str) -> str:
    """The name alone, before the checkpoint is opened."""
    return f'<div class="card-head"><h3>{escape(shelf.label(name))}</h3><p class="facts">&nbsp;</p></div>'


def _head(listing: Listing) -> str:
    stored, effective = count_in_words(listing.stored), count_in_words(listing.effective)
    size = f"{stored} parameters" if stored == effective else f"{stored} stored → {effective} in use"
    title = f"{listing.stored:,} parameters are stored; one pass reads {listing.effective:,}"
    loss = "loss not recorded" if listing.loss is None else f"{listing.loss:.3f} nats/byte"
    return (
        f'<div class="card-head">{dot_of(listing.kind)}<h3>{escape(listing.label)}</h3>'
        f'<p class="facts"><span title="{title}">{size}</span>'
        f'<span title="Validation loss of the run that made the weights">{loss}</span></p></div>'
    )


def show_prompt(prompt: str) -> str:
    """The end of the prompt, before the generated text."""
    tail = prompt[-PROMPT_TAIL:]
    cut = "…" if len(prompt) > len(tail) else ""
    return f'<span class="prompt">{cut}{escape(tail)}</span>' if tail else ""


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
        parts.append('<button type="button" data-copy aria-label="Copy the text">Copy</button>')
    note = ""
    if column.unread:
        read = f"only its last {column.context:,} bytes are read"
        note = f'<p class="note">The prompt is longer than the context: {read}.</p>'
    return f'<div class="card-foot">{"".join(parts)}</div>{note}'


def show_line(text: str) -> str:
    """A status line, which screen readers read aloud when it changes."""
    return f'<p role="status">{escape(text)}</p>'


def show_legend() -> str:
    """The legend of the tints."""
    swatches = "".join(f'<b class="t{number}">{least:g}</b>' for number, least in enumerate(STEPS))
    return f'<p class="legend">bits of surprise {swatches}</p>'


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
