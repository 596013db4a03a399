"""Load and compile in the background, so that the first visitor does not wait for it."""

import contextlib
import threading
import time
from collections.abc import Callable

from app.dynamics.actions import DynamicsActions
from app.dynamics.settings import Choice
from app.gates.actions import GateActions
from app.generate.measured import Measured
from app.generate.settings import WritingRequest
from app.generate.streaming import write_in_turns
from app.shelf import ModelShelf


def warm_up(shelf: ModelShelf, say: Callable[[str], None], measured: Measured | None = None) -> None:
    """Run every bundled model on a short and on a long prompt, score a text, and measure the time to a first byte.

    The views of the Gates tab and of the Dynamics tab come last.
    """
    measured = measured or Measured()
    began = time.perf_counter()
    names = []
    for name in shelf.names():
        try:
            model = shelf.get(name).model
        except ValueError as error:
            say(f"{name} cannot be loaded: {error}")
            continue
        context = model.config.max_position_embeddings
        for prompt in (b"", b"a" * context):
            measured.compile(model, prompt, None)
        model.score("a" * 100)  # about as long as the example on the page
        names.append(name)
    if not names:
        return
    say(f"warm after {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    for columns in write_in_turns(
        shelf, measured, WritingRequest(prompt="The history of", models=tuple(names[:4]), length=16)
    ):
        if all(column.infos for column in columns):
            break
    say(f"first byte of {len(names[:4])} models after {time.perf_counter() - began:.2f} s")
    gates = GateActions(shelf)
    for name in names:
        gates.views(name, None, None, "value", "value")
        gates.at_depth(name, None, 0.5)
        gates.follow(name, None, "The history of")
    gates.weights(None)
    dynamics, choice = DynamicsActions(shelf), Choice()
    dynamics.spectra(choice.product, choice.t)
    for name in names:
        with contextlib.suppress(ValueError):  # a model that is too wide for this tab
            dynamics.figures(name, choice.text, choice.shown)
            dynamics.sensed(name, choice.text, choice.place)


def warm_up_in_background(shelf: ModelShelf, say: Callable[[str], None], measured: Measured) -> threading.Thread:
    """Run `warm_up` in a daemon thread."""
    thread = threading.Thread(target=warm_up, args=(shelf, say, measured), name="warm-up", daemon=True)
    thread.start()
    return thread
