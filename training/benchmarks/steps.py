"""Milliseconds per training step of every model of the tuned protocol, each with its own optimizer.

What Muon adds to a step depends on how many matrices are stored and not on the batch, so two batch sizes are measured.
"""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from training.benchmarks.peer import describe_benchmark, measure_turns
from training.benchmarks.training import Ours
from training.recipes.library import find_recipe

RECIPE = "tuned-1000"
BATCHES = (8, 32)
STEPS = 2


def measure(
    *, rounds: int, models: Sequence[str] | None = None, batches: Sequence[int] = BATCHES, recipe_name: str = RECIPE
) -> dict[str, Any]:
    """Medians over rounds in which all models take turns, one batch size after the other."""
    recipe, shapes = find_recipe(recipe_name), []
    for batch in batches:
        sized = replace(recipe, batch_size=batch)
        taken = measure_turns([Ours(label, sized) for label in models or recipe.models], STEPS, rounds)
        step_ms = {label: 1e3 * statistics.median(seconds) for label, seconds in taken.items()}
        shapes.append({"batch_size": batch, "length": recipe.length, "step_ms": step_ms})
    return {**describe_benchmark([]), "recipe": recipe_name, "rounds": rounds, "shapes": shapes}
