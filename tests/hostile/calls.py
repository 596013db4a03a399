"""Hostile values for what other programs may call: every function takes them, or refuses them in words."""

from collections.abc import Callable
from typing import Any

import numpy as np

from app.controls import texts
from app.dynamics.settings import Choice, check_text
from app.generate.scoring import score_in_turns
from app.generate.settings import WritingRequest
from app.results.choices import ResultsChoice
from app.shelf import ModelShelf
from app.train.settings import TrainingRequest
from tests.hostile.limits import refused
from tests.hostile.mutations import NASTY_VALUES, draw

# A function, and values that it takes.
CALLS: list[tuple[Callable[..., Any], list[Any]]] = [
    (WritingRequest.of_controls, ["text", ["standard"], 0.8, 40, 0.9, 0.0, 1.0, 100, 1, 0]),
    (TrainingRequest.of_controls, ["standard", "", "builtin", "", 100, 64, 0]),
    (ResultsChoice.of_controls, ["measured", "validation", 1, "nats", "parameters"]),
    (check_text, ["text"]),
    (ModelShelf().describe, ["standard"]),
    (ModelShelf().add, ["standard"]),
    (lambda *values: next(score_in_turns(ModelShelf(), *values)), ["text", ["standard"]]),
    (lambda *values: [texts("models", each) for each in values], [["standard"], None]),
    (Choice, ["standard", "text", 3, "value-output", 0.5, "divergence"]),
]
ODD = [*NASTY_VALUES, float("nan"), float("inf"), -0.0, 3.0, "3", {"path": "/etc/passwd"}, [None] * 3, ["\ud800"]]


def run_call(random: np.random.Generator) -> bool:
    """Whether a function took values of which one or two are odd."""
    function, values = draw(random, CALLS)
    given = list(values)
    for at in random.integers(len(given), size=2):
        given[at] = draw(random, ODD)
    try:
        function(*given)
    except ValueError as error:
        return refused(error)
    return True
