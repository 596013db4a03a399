"""What the runs of a recipe will take in time and memory: as recorded, or estimated from recorded runs."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from tipshare.config import ModelConfig
from training.engine.costs import TRAINING_TO_FORWARD, formula_flops_per_token, parameters_by_part
from training.engine.progress import format_seconds
from training.recipes.recipe import Recipe
from training.results.formatting import count_in_words
from training.results.records import RunRecord
from training.results.rows import step_memory

# A training step of the same model takes as long, and as much memory, under the same values of these settings.
DECISIVE = (
    *("batch_size", "length", "accumulate", "precision", "optimizer"),
    *("depth_steps", "depth_weights", "consistency"),
)
# Weights and Adam's two averages in float32, which every step reads and writes.
STATE_BYTES = 12


@dataclass(frozen=True)
class Forecast:
    """What one run of a model will take; None where no record tells.

    Attributes:
        seconds: Time of all training steps, without evaluations.
        memory_mb: Memory of a training step.
        basis: Where the numbers come from, in words.
    """

    model: str
    parameters: int
    seconds: float | None
    memory_mb: float | None
    basis: str

    def __str__(self) -> str:
        time = "unknown time" if self.seconds is None else format_seconds(self.seconds)
        memory = "unknown memory" if self.memory_mb is None else f"{self.memory_mb:,.0f} MB"
        size = f"{self.parameters:,} parameters ({count_in_words(self.parameters)})"
        return f"{self.model}: {size}, {time} per run, {memory}; {self.basis}"


def forecast(recipe: Recipe, label: str, config: ModelConfig, records: Sequence[RunRecord]) -> Forecast:
    """Time and memory of one run: of recorded runs with the same step, otherwise fitted to all recorded runs.

    An estimate adds up two parts, each in proportion: the operations of the matrix products, and the parameters, which
    the optimizer reads and writes.
    """
    parameters = parameters_by_part(config)["total"]
    settings = recipe.settings()
    whole = [each for each in records if "method" not in each.settings]  # where all parameters are trained
    timed = [each for each in whole if "step_ms" in each.speed and step_memory(each) is not None]
    same = [
        each
        for each in timed
        if each.config == config.to_dict() and all(each.settings.get(name) == settings.get(name) for name in DECISIVE)
    ]
    # Times of different devices do not mix; the device with the most records tells the most.
    devices = [each.machine.get("device", "an unnamed device") for each in same or timed]
    if not devices:
        return Forecast(label, parameters, None, None, "no run is recorded to estimate from")
    device = statistics.mode(devices)
    chosen = [each for each, name in zip(same or timed, devices, strict=True) if name == device]
    times, memories = [each.speed["step_ms"] for each in chosen], [step_memory(each) or 0.0 for each in chosen]
    if same:
        step_ms, memory = statistics.median(times), max(memories)
        basis = f"as recorded over {max(each.settings['num_steps'] for each in chosen):,} steps on {device}"
    else:
        tokens = [each.settings.get("batch_size", 0) * each.settings.get("length", 0) for each in chosen]
        flops = [each.flops.get("training_per_token_formula", 0.0) for each in chosen]
        totals = [each.parameters["total"] for each in chosen]
        operations = TRAINING_TO_FORWARD * formula_flops_per_token(config, recipe.length)
        here = recipe.batch_size * recipe.length
        step_ms = recipe.accumulate * _fitted(
            np.multiply(flops, tokens), totals, times, (operations * here, parameters)
        )
        state = STATE_BYTES / 1e6
        temporary = [total - state * count for total, count in zip(memories, totals, strict=True)]
        work = np.multiply(tokens, [each.config["num_layers"] * each.config["hidden_dim"] for each in chosen])
        size = here * config.num_layers * config.hidden_dim
        memory = state * parameters + _fitted(work, totals, temporary, (size, parameters))
        basis = f"an estimate from operations and parameters of {len(chosen)} runs on {device}"
    return Forecast(label, parameters, step_ms * recipe.num_steps / 1e3, memory, basis)


def _fitted(work: Sequence[float] | np.ndarray, counts: Sequence[float], values: Sequence[float], at: tuple) -> float:
    """The value at a place of a sum of two proportional parts, fitted to values by their relative errors."""
    table, scale = np.stack([work, counts], axis=1).astype(float), np.maximum(values, 1e-9)
    size = np.maximum(table.max(0), 1.0)
    weights, _ = nnls(table / size / scale[:, None], np.ones(len(scale)))
    return float(np.dot(weights, np.array(at) / size))
