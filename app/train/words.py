"""The Train tab in words: how a run stands, what came out, and what the model writes."""

import html

from app.train.session import Snapshot
from app.train.settings import MOST_STEPS, MOST_TEXT
from tipshare.kinds import title_of
from training.results.formatting import count_in_words

ABOUT = (
    "<p>Train a small model on this machine and watch it learn: a kind, one thing changed in it, a text. What was "
    "trained is yours until you leave or reload the page; nobody else sees it, nor the text.</p>"
)
LIMITS = f"Up to {MOST_STEPS:,} training steps and {MOST_TEXT:,} bytes of text; one run at a time on this page."


def show_waiting(ahead: int) -> str:
    """The place in the line."""
    runs = "one run is" if ahead == 1 else f"{ahead} runs are"
    return _status(f"Place {ahead + 1} in the line: {runs} before yours. A run takes up to a minute.", "waiting")


def show_left() -> str:
    """The visitor left the line."""
    return _status("Left the line; nothing was trained.", "over")


def show_state(now: Snapshot, before: Snapshot | None) -> str:
    """How the run stands, or what came out and how it compares with the run before."""
    name, of = title_of(now.request.label), f"{now.step:,} of {now.request.steps:,}"
    if now.state == "compiling":
        return _status(f"{name}: compiling the training step …", "running")
    if now.problem:
        return _status(f"{name}: {now.problem}", "over")
    loss = f"training loss {now.losses[-1][1]:.3f} nats per byte"
    if now.record is None:
        ending = " Ending: it is measured and saved …" if now.ended_early else ""
        doing = "measuring" if now.state == "measuring" else "training"
        return _status(f"{name}: {doing}, step {of}, {loss}, {now.seconds:.0f} s.{ending}", "running")
    final = now.record.final["valid_loss"]
    size = count_in_words(now.record.parameters["total"])
    early = " (ended early)" if now.ended_early else ""
    told = f"{name}: {final:.3f} nats per byte after {of} steps{early}, {size} parameters, {now.seconds:.0f} s."
    return _status(f"{told} {compare(now, before)}", "over")


def compare(now: Snapshot, before: Snapshot | None) -> str:
    """A sentence on the run before; empty if there is none."""
    if before is None or before.record is None or now.record is None:
        return ""
    mine, theirs = now.record.final["valid_loss"], before.record.final["valid_loss"]
    difference = mine - theirs
    if now.record.data != before.record.data:
        return "The run before had another text, so the two losses do not compare."
    if abs(difference) < 0.0005:
        return f"The run before, {title_of(before.request.label)}, came to the same loss."
    better = "lower (better)" if difference < 0 else "higher (worse)"
    reached = "" if now.step == before.step else f" after {before.step:,} steps"
    return (
        f"That is {abs(difference):.3f} {better} than the run before, {title_of(before.request.label)} with "
        f"{theirs:.3f}{reached}. One seed each: another seed moves a loss too."
    )


def show_samples(now: Snapshot | None) -> str:
    """What the model writes without a prompt, the newest text first."""
    if now is None or not now.samples:
        return '<p class="note">Texts appear here while the model learns.</p>'
    return "".join(
        f'<div class="sample"><h4>after step {step:,}</h4><pre tabindex="0" role="group" '
        f'aria-label="Text written after step {step:,}">{html.escape(text)}</pre></div>'
        for step, text in reversed(now.samples)
    )


def show_kept(label: str, command: str) -> str:
    """What can be done with a result."""
    return (
        f'<p class="finding">It is in the lists of models of <em>Generate</em>, <em>Gates</em> and '
        f"<em>Dynamics</em> as <em>{html.escape(label)}</em>, for you only. To repeat it in a terminal:</p>"
        f'<pre class="command" tabindex="0">{html.escape(command)}</pre>'
    )


def _status(text: str, state: str) -> str:
    return f'<p role="status" class="train-{state}">{html.escape(text)}</p>'
