"""The optimizer of a recipe, as an optax chain."""

import jax
import optax
from haliax import NamedArray

from training.recipes.recipe import Recipe


def learning_rate_schedule(recipe: Recipe, kind: str) -> optax.Schedule:
    """Learning rate by training step, counted from 0."""
    peak = recipe.kind_learning_rates.get(kind, recipe.learning_rate)
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


def make_optimizer(recipe: Recipe, kind: str) -> optax.GradientTransformation:
    """Clipping, Adam's scaling, weight decay on matrices, learning rate: those that the recipe asks for."""
    parts = [optax.clip_by_global_norm(recipe.clip_norm)] if recipe.clip_norm else []
    parts.append(optax.scale_by_adam(b1=recipe.betas[0], b2=recipe.betas[1]))
    if recipe.optimizer == "adamw" and recipe.weight_decay:
        parts.append(optax.add_decayed_weights(recipe.weight_decay, mask=is_matrix))
    schedule = learning_rate_schedule(recipe, kind)
    return optax.chain(*parts, optax.scale_by_learning_rate(schedule))


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
