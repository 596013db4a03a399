"""The mean of the weights over the last training steps.

It is often better than the weights of the last step (Polyak & Juditsky, 1992; Izmailov et al., 2018).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
import optax.tree_utils
from jaxtyping import Array

from training.recipes.recipe import Recipe


class TailMean(NamedTuple):
    """Training steps so far, and the mean of the weights after each of the last ones."""

    step: Array
    mean: Any


def track_mean(recipe: Recipe) -> optax.GradientTransformation:
    """Keep the mean of the weights over the last `average_tail` of a recipe's training steps; updates pass unchanged.

    It belongs at the end of a chain, where updates are what is added to the weights.
    """
    before = recipe.num_steps - max(1, round(recipe.average_tail * recipe.num_steps))

    def init(params: Any) -> TailMean:
        return TailMean(jnp.int32(0), jax.tree.map(jnp.zeros_like, params))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, TailMean]:
        step = state.step + 1
        share = jnp.where(step > before, 1.0 / jnp.maximum(step - before, 1), 0.0)
        mean = jax.tree.map(
            lambda mean, weight, change: mean + share * (weight + change - mean), state.mean, params, updates
        )
        return updates, TailMean(step, mean)

    return optax.GradientTransformation(init, update)


def tail_mean(optimizer_state: Any) -> Any:
    """The mean of the weights that `track_mean` keeps in an optimizer's state."""
    return optax.tree_utils.tree_get(optimizer_state, "mean", filtering=lambda path, _: "TailMean" in str(path[-1]))
