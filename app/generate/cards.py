"""The HTML of a model's card: what it is, above its text; how it is doing, below."""

from app.errors import in_words
from app.generate.streaming import Column
from app.generate.tinted import STEPS, escape
from app.shelf import Listing, ModelShelf
from tipshare.kinds import colour_of
from training.results.formatting import count_in_words

# Characters of the prompt that a card shows before the text.
PROMPT_TAIL = 160

STATES = {
    "waiting": "waiting",
    "loading": "loading",
    "writing": "writing",
    "finished": "finished",
    "stopped": "stopped",
}


def show_head(shelf: ModelShelf, name: str) -> str:
    """A model's name, its parameters and its loss; what is wrong with it if it cannot be read."""
    try:
        return _head(shelf.describe(name))
    except ValueError as error:
        problem = f'<p class="problem">{escape(in_words(error))}</p>'
        return f'<div class="card-head"><h3>{escape(shelf.label(name))}</h3>{problem}</div>'


def show_bare_head(shelf: ModelShelf, name: str) -> str:
    """The name alone, for the moment before the checkpoint is opened."""
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


def dot_of(kind: str) -> str:
    """The mark in a model's colour that stands before its name."""
    return f'<span class="dot" style="background:{colour_of(kind)}" aria-hidden="true"></span>'


def show_prompt(prompt: str) -> str:
    """The end of the prompt, which the text goes on from."""
    tail = prompt[-PROMPT_TAIL:]
    cut = "…" if len(prompt) > len(tail) else ""
    return f'<span class="prompt">{cut}{escape(tail)}</span>' if tail else ""


def show_foot(column: Column) -> str:
    """State, speed and time to the first byte; and that a prompt was too long to be read whole."""
    parts = [f'<span class="state {column.state}">{STATES[column.state]}</span>']
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
    """What the page is doing, in words; screen readers read it out when it changes."""
    return f'<p role="status">{escape(text)}</p>'


def show_legend() -> str:
    """What the tints mean."""
    swatches = "".join(f'<b class="t{number}">{least:g}</b>' for number, least in enumerate(STEPS))
    return f'<p class="legend">bits of surprise {swatches}</p>'


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
