"""Load and compile in the background, so that the first visitor does not wait for it."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from app.dynamics.actions import DynamicsActions
from app.dynamics.settings import Choice
from app.gates.actions import GateActions
from app.generate.dial import DEEPEST, SHALLOWEST
from app.generate.examples import FIRST, write_examples
from app.generate.measured import LEAST_BYTES, Measured
from app.generate.settings import WritingRequest
from app.generate.streaming import write_in_turns
from app.shelf import ModelShelf

# Which depth steps are compiled beforehand, as in "3,4,12"; 0 for none.
WARM_DEPTHS = "TIPSHARE_WARM_DEPTHS"
# Those that most visitors will try.
LIKELY = (6, 3, 12, 4, 8, 2, 18)


def warm_up(shelf: ModelShelf, say: Callable[[str], None], measured: Measured | None = None) -> None:
    """Run every bundled model on a short and on a long prompt, score a text, and measure the time to a first byte.

    Then come the examples that the page opens with, the views of the Gates and Dynamics tabs, and all other depths.
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
        measured.has_all_examples = True
        return
    say(f"warm after {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    for columns in write_in_turns(
        shelf, measured, WritingRequest(prompt="The history of", models=tuple(names[:4]), length=16)
    ):
        if all(column.infos for column in columns):
            break
    say(f"first byte of {len(names[:4])} models after {time.perf_counter() - began:.2f} s")
    write_examples(shelf, measured, names)
    measured.has_all_examples = True
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
    warm_up_depths(shelf, measured, names, say)


def warm_up_depths(shelf: ModelShelf, measured: Measured, names: Sequence[str], say: Callable[[str], None]) -> None:
    """Compile every depth of the dial, and measure how fast each model writes there.

    Programs of all depths together would fill gigabytes. The shelf drops compiled code before it does; what was
    compiled here is then in the cache on disk, from which it comes back in less than a second. The depths that most
    visitors will try come first, and once more in the end.
    """
    began = time.perf_counter()
    wanted = depths_to_warm()
    free = [name for name in names if shelf.describe(name).config.is_continuous]
    likely = [steps for steps in LIKELY if steps in wanted]
    for steps in [*likely, *(each for each in wanted if each not in likely), *likely]:
        for name in free:
            request = WritingRequest(prompt=FIRST, models=(name,), steps=steps, length=2 * LEAST_BYTES)
            for _ in write_in_turns(shelf, measured, request):
                pass
    if wanted and free:
        say(f"all {len(wanted)} depths after {time.perf_counter() - began:.1f} s")


def depths_to_warm(environment: Mapping[str, str] = os.environ) -> list[int]:
    """The depth steps to compile beforehand: all of the dial, unless the operator says which, or 0 for none."""
    wanted = environment.get(WARM_DEPTHS, "")
    if not wanted:
        return list(range(SHALLOWEST, DEEPEST + 1))
    try:
        return [int(each) for each in wanted.split(",") if int(each) in range(SHALLOWEST, DEEPEST + 1)]
    except ValueError:
        raise ValueError(
            f"{WARM_DEPTHS}={wanted!r} must be numbers of depth steps, as in 3,4,12; or 0 for none"
        ) from None


def warm_up_in_background(shelf: ModelShelf, say: Callable[[str], None], measured: Measured) -> threading.Thread:
    """Run `warm_up` in a daemon thread."""
    thread = threading.Thread(target=warm_up, args=(shelf, say, measured), name="warm-up", daemon=True)
    thread.start()
    return thread
