"""The optimizer of a recipe, as an optax chain; in the end it may give the mean of the last weights."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
import optax.contrib
import optax.tree_utils
from haliax import NamedArray
from jaxtyping import Array

from tipshare.model.language_model import LanguageModel
from training.engine.muon import muon_dimensions
from training.recipes.recipe import Recipe

# Root mean square of Muon's updates relative to the learning rate, as AdamW's is in practice (Liu et al., 2025).
UPDATE_SIZE = 0.2


def learning_rate_schedule(recipe: Recipe, peak: float) -> optax.Schedule:
    """Learning rate by training step, counted from 0."""
    steps = recipe.num_steps - recipe.warmup_steps
    if recipe.schedule == "cosine":
        after = optax.cosine_decay_schedule(peak, steps, alpha=recipe.final_learning_rate_share)
    else:
        after = optax.constant_schedule(peak)
    if not recipe.warmup_steps:
        return after
    # The first step already has a rate above 0, and step number `warmup_steps` has the peak.
    rise = optax.linear_schedule(peak / recipe.warmup_steps, peak, max(recipe.warmup_steps - 1, 1))
    return optax.join_schedules([rise, after], [recipe.warmup_steps])


def make_optimizer(recipe: Recipe, model: LanguageModel) -> optax.GradientTransformation:
    """Clipping, Adam's or Muon's scaling, weight decay on matrices, learning rate, mean: what the recipe asks for.

    Args:
        model: The model, or its shapes; Muon needs to know which arrays are matrices.
    """
    clip = [optax.clip_by_global_norm(recipe.clip_norm)] if recipe.clip_norm else []
    mean = [track_mean(recipe)] if recipe.average_tail else []
    if recipe.optimizer != "muon":
        return optax.chain(*clip, *_adam(recipe, recipe.learning_rate), *mean)
    dimensions, labels = muon_dimensions(model)
    # Both trees as functions: optax would call a tree of a model's class, which has a __call__ of its own.
    muon = optax.contrib.muon(
        learning_rate_schedule(recipe, recipe.learning_rate),
        weight_decay=recipe.weight_decay,
        muon_weight_dimension_numbers=lambda _: dimensions,
        consistent_rms=UPDATE_SIZE,
    )
    adam = optax.chain(*_adam(recipe, recipe.adam_learning_rate or recipe.learning_rate))
    return optax.chain(*clip, optax.partition({"muon": muon, "adam": adam}, lambda _: labels), *mean)


def _adam(recipe: Recipe, peak: float) -> list[optax.GradientTransformation]:
    decay = [optax.add_decayed_weights(recipe.weight_decay, mask=is_matrix)] if recipe.weight_decay else []
    scale = optax.scale_by_adam(b1=recipe.betas[0], b2=recipe.betas[1])
    return [scale, *decay, optax.scale_by_learning_rate(learning_rate_schedule(recipe, peak))]


def is_matrix(parameters: object) -> object:
    """True for each array that is a matrix, or from which a hypernetwork generates one.

    A matrix has two or more axes besides depth. Biases, which in attention have several axes too, norms and other
    vectors do not decay, nor do the arrays that generate them.
    """

    def decays(path: tuple, leaf: NamedArray) -> bool:
        *_, parent, name = [None, *(getattr(key, "name", getattr(key, "key", None)) for key in path)]
        axes = {axis.name for axis in leaf.axes} - {"depth"}
        if name == "projection":
            axes -= {"time"}
        # A GeneratedArray is stored under the name of the array that it generates.
        field = parent if name in ("projection", "base") else name
        return field != "bias" and len(axes) > 1

    return jax.tree_util.tree_map_with_path(decays, parameters, is_leaf=lambda leaf: isinstance(leaf, NamedArray))


class TailMean(NamedTuple):
    """Training steps so far, and the mean of the weights after each of the last ones."""

    step: Array
    mean: Any


def track_mean(recipe: Recipe) -> optax.GradientTransformation:
    """Keep the mean of the weights over the last `average_tail` of a recipe's training steps; updates pass unchanged.

    It is often better than the weights of the last step (Polyak & Juditsky, 1992; Izmailov et al., 2018). This belongs
    at the end of a chain, where updates are what is added to the weights.
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
