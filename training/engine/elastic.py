"""Elastic depth: how many depth steps a training step uses, drawn anew for each one.

Trained at one number of depth steps, a model is right at those depths only. Trained at many, it runs at all of them
and beyond (LoopFormer, Jeddi et al., ICLR 2026; looped nanochat).
"""

import math
from collections import Counter

import numpy as np

from tipshare.config import ModelConfig
from training.recipes.recipe import Recipe

# Keeps the draw apart from other random numbers of the same seed and step.
STREAM = 0xDE97


def depths_of(recipe: Recipe, config: ModelConfig) -> tuple[int, ...]:
    """All numbers of depth steps that a run may use in training, from few to many."""
    if not recipe.depth_steps:
        return (config.steps,)
    if not config.is_continuous:
        raise ValueError(
            f"recipe {recipe.name} draws depth_steps={recipe.depth_steps}, but {config.kind} with "
            f"weights={config.weights!r} has exactly {config.num_layers} layers: choose weights that are defined at "
            "every depth (generated, gated or tied), or a recipe without depth_steps"
        )
    return tuple(sorted(recipe.depth_steps))


def depths_to_evaluate(recipe: Recipe, config: ModelConfig) -> tuple[int, ...]:
    """The numbers of depth steps that a finished run is read with: those asked for and those it drew.

    None for weights that are not defined at every t.
    """
    return tuple(sorted({*recipe.depth_evaluation, *recipe.depth_steps})) if config.is_continuous else ()


def draw_depth(recipe: Recipe, config: ModelConfig, seed: int, step: int) -> int:
    """The number of depth steps of one training step: a function of seed and step alone."""
    depths = depths_of(recipe, config)
    if len(depths) == 1:
        return depths[0]
    if recipe.depth_growth:
        progress = step / (recipe.depth_growth * recipe.num_steps)
        depths = depths[: max(1, math.ceil(min(1.0, progress) * len(depths)))]
    weight_of = dict(zip(recipe.depth_steps, recipe.depth_weights or [1.0] * len(recipe.depth_steps), strict=True))
    reached = np.cumsum([weight_of[each] for each in depths])
    # A single uniform number: numpy keeps its stream of these the same across versions.
    place = np.random.default_rng((STREAM, seed, step)).random() * reached[-1]
    return depths[int(np.searchsorted(reached, place, side="right"))]


def count_draws(recipe: Recipe, config: ModelConfig, seed: int, num_steps: int) -> dict[int, int]:
    """How many of the first training steps of a run use each number of depth steps."""
    drawn = Counter(draw_depth(recipe, config, seed, step) for step in range(1, num_steps + 1))
    return dict(sorted(drawn.items()))
