"""How well a model in training predicts a text: on fixed windows, and on a whole split with every byte scored once."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from tipshare.analysis.scoring import Score, WindowScorer, rows_per_call, score_ids, score_windows, window_losses
from tipshare.model.language_model import LanguageModel
from training.engine.sharding import Placement
from training.engine.step import Arrays


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
