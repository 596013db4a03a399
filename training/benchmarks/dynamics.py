"""What the bundled checkpoints do inside: the main numbers of every analysis at one text."""

from collections.abc import Callable, Sequence
from typing import Any

from tipshare.analysis import inspect_text, main_numbers
from tipshare.checkpoint import list_bundled, open_checkpoint
from tipshare.checkpoint.layout import is_weights_file
from tipshare.kinds import rank_of

# 63 bytes and the begin token: 64 positions.
TEXT = "The tower is 324 metres tall, about the same height as an 81-st"


def measure_dynamics(
    names: Sequence[str] = (), *, say: Callable[[str], None] = lambda words: None, text: str = TEXT
) -> dict[str, Any]:
    """The report: text, and for every checkpoint its main numbers and the sha256 of its weights.

    Args:
        names: Checkpoints; the bundled ones if empty.
    """
    checkpoints = {name: open_checkpoint(name) for name in names or list_bundled()}
    models = {}
    for name, checkpoint in sorted(checkpoints.items(), key=lambda each: rank_of(each[1].config.kind)):
        say(f"{name} ...")
        weights = {file: each.sha256 for file, each in sorted(checkpoint.sums.items()) if is_weights_file(file)}
        models[name] = {"weights": weights, **main_numbers(inspect_text(checkpoint.load("float32"), text))}
    return {"text": text, "models": models}
