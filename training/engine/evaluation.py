"""How well a model in training predicts a text: on fixed windows, and on a whole split with every byte scored once."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from tipshare.analysis.scoring import (
    Score,
    WindowScorer,
    perplexity_of,
    rows_per_call,
    score_ids,
    score_windows,
    window_losses,
)
from tipshare.model.language_model import LanguageModel
from training.engine.sharding import Placement
from training.engine.start import Start
from training.engine.step import Arrays
from training.results.summaries import depth_loss


class Evaluator:
    """Scores windows with the arrays of a model; compiles once per shape."""

    def __init__(self, static: LanguageModel, placement: Placement | None = None) -> None:
        self._tokenizer = static.tokenizer
        self._placement = placement or Placement()
        copies = self._placement.out_shardings(jax.ShapeDtypeStruct((), jnp.float32))

        def losses(parameters: Arrays, windows: Array, steps: int | None, solver: str | None) -> Array:
            return window_losses(eqx.combine(parameters, static), windows, steps, solver)

        self._losses = jax.jit(losses, static_argnums=(2, 3), **copies)

    def on_windows(
        self, parameters: Arrays, windows: np.ndarray, *, steps: int | None = None, solver: str | None = None
    ) -> Score:
        """Score windows of `length + 1` bytes; the first byte of each is only read.

        `steps` is the number of depth steps, for models whose weights are defined at every t; None for the trained one.
        `solver` is another one than Euler's, for models with step="euler".
        """
        scorer, rows = self._scorer(parameters, steps, solver), rows_per_call(windows.shape[1] - 1)
        return score_windows(scorer, windows, self._tokenizer, rows)

    def on_split(
        self,
        parameters: Arrays,
        data: np.ndarray,
        length: int,
        *,
        steps: int | None = None,
        solver: str | None = None,
    ) -> Score:
        """Score a whole text in windows of `length` that do not overlap; `model.score(text, stride=length)` agrees."""
        # As many rows for a short text too: all calls of a run share one compilation.
        scorer, rows = self._scorer(parameters, steps, solver), rows_per_call(length)
        return score_ids(scorer, data, self._tokenizer, width=length, stride=length, rows=rows)

    def _scorer(self, parameters: Arrays, steps: int | None, solver: str | None) -> WindowScorer:
        return lambda windows: self._losses(parameters, self._placement.put_batch(windows), steps, solver)


def final_numbers(
    curve: list[list[float]], losses: dict[str, Score], at_steps: dict[int, float] | None = None
) -> dict[str, float]:
    """Losses after the last step by name; bits per byte and perplexity are of all of `valid` if it was scored whole,
    else of its fixed windows.
    """
    last = curve[-1][1]
    final = {"valid_loss": last, "best_valid_loss": min(loss for _, loss in curve)}
    for split, found in losses.items():
        final[f"{split}_loss_full"] = found.loss
        final[f"{split}_bits_per_byte"] = found.bits_per_byte
        final[f"{split}_loss_per_character"] = found.loss_per_character
        final[f"{split}_perplexity"] = found.perplexity
    final |= {depth_loss(steps): loss for steps, loss in (at_steps or {}).items()}
    valid = losses["valid"].loss if "valid" in losses else last
    return {**final, "bits_per_byte": valid / math.log(2), "perplexity": perplexity_of(valid)}


def compare_with_start(
    start: Start, parameters: Arrays, valid_windows: np.ndarray, evaluator: Evaluator, placement: Placement
) -> dict[str, float]:
    """Losses to compare a run's own with, by the names of a record's final numbers.

    `valid_loss_before`: before training; `valid_loss_of_base`: of the base at its own number of depth steps, if the run
    has another; `first_text_loss_before` and `first_text_loss`: on the first text, before and after.
    """
    before = placement.put(start.arrays())
    final = {"valid_loss_before": evaluator.on_windows(before, valid_windows).loss}
    if start.model.steps != start.base.steps:
        arrays, static = eqx.partition(start.base, eqx.is_array)
        arrays = placement.put(jax.tree.map(np.asarray, arrays))
        final["valid_loss_of_base"] = Evaluator(static, placement).on_windows(arrays, valid_windows).loss
    if start.first_text is not None:
        count, length = len(valid_windows), valid_windows.shape[1] - 1
        windows = start.first_text.evaluation_windows("valid", count, length)
        final["first_text_loss_before"] = evaluator.on_windows(before, windows).loss
        final["first_text_loss"] = evaluator.on_windows(parameters, windows).loss
    return final
