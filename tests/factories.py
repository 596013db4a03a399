"""Small models that stand for the whole grid of choices."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tipshare
from tipshare.config import ModelConfig
from tipshare.model.weights import SOURCES
from tipshare.model.weights.generated import time_unit_scale

SMALL = {
    "num_layers": 3,
    "hidden_dim": 16,
    "num_heads": 2,
    "max_position_embeddings": 12,
    "state_dim": 5,
    "time_frequencies": 4,
    "time_dim": 6,
}

# Name -> config: the four kinds, the published presets made small, and every choice that changes what is computed.
GRID: dict[str, ModelConfig] = {
    **{kind: config_class(**SMALL) for kind, config_class in tipshare.KINDS.items()},
    **{f"published {kind}": config.replace(**SMALL) for kind, config in tipshare.PRESETS["published"].items()},
    **{
        f"{weights} {mixer}": tipshare.StandardConfig(weights=weights, mixer=mixer, **SMALL)
        for weights in SOURCES
        for mixer in ("mlp", "ssm")
        if (weights, mixer) != ("own", "mlp")
    },
    "hybrid: shared weights, Euler step": tipshare.TimeIndexedMlpConfig(step="euler", **SMALL),
    "neural ODE without 1/L": tipshare.NeuralOdeConfig(step="residual", **SMALL),
    "gated, time held constant": tipshare.TimeIndexedSsmConfig(time="constant", **SMALL),
    "generated, shared time network": tipshare.NeuralOdeConfig(time_network="shared", **SMALL),
    "smooth features of t, and dt": tipshare.TimeIndexedSsmConfig(step_features=True, **SMALL),
    "Legendre features, dt in every generator": tipshare.NeuralOdeConfig(
        time_features="legendre", step_features=True, **SMALL
    ),
    "state space that does not depend on the input": tipshare.TimeIndexedSsmConfig(selective=False, **SMALL),
    "bare state space": tipshare.TimeIndexedSsmConfig(ssm_projections=False, **SMALL),
    "bare state space, own weights": tipshare.TimeIndexedSsmConfig(
        weights="own", selective=False, ssm_projections=False, **SMALL
    ),
    "learned positions": tipshare.TimeIndexedMlpConfig(positions="learned", **SMALL),
    "no positions": tipshare.StandardConfig(positions="none", **SMALL),
    "short convolution before attention": tipshare.TimeIndexedMlpConfig(attention_convolution_width=3, **SMALL),
    "gates up to two": tipshare.TimeIndexedSsmConfig(gate="two-sigmoid", **SMALL),
    "unbounded gates": tipshare.TimeIndexedMlpConfig(gate="linear", **SMALL),
    "parallel branches": tipshare.TimeIndexedSsmConfig(branches="parallel", **SMALL),
    "recomputed in the backward pass": tipshare.TimeIndexedSsmConfig(gradient_checkpointing=True, **SMALL),
}


def cells(grid: dict[str, ModelConfig]) -> list:
    """The configs of a grid as parameters; all but the four kinds are slow, as there are many."""
    return [
        pytest.param(config, id=name, marks=() if name in tipshare.KINDS else pytest.mark.slow)
        for name, config in grid.items()
    ]


each_config = pytest.mark.parametrize("config", cells(GRID))
each_kind = pytest.mark.parametrize("config", [GRID[kind] for kind in tipshare.KINDS], ids=tipshare.KINDS)


def fill(config: ModelConfig, seed: int = 0) -> tipshare.LanguageModel:
    """A model with random numbers in every array, so that no path is dead by its starting value.

    Shapes come from the real `config.build`; drawing the numbers here saves compiling a random generator per shape.
    """
    noise = np.random.default_rng(seed)

    def draw(path: tuple, leaf: jax.ShapeDtypeStruct) -> jax.Array:
        names = [getattr(key, "name", None) for key in path]
        # Layers multiply the few time units that they read; larger numbers would drown everything else in rounding.
        reads_time_units = "projection" in names or ("second" in names and "weight" in names)
        spread = 0.3 / time_unit_scale(config.TimeUnits) if reads_time_units else 0.3
        return jnp.asarray(noise.standard_normal(leaf.shape, np.float32) * spread)

    return jax.tree_util.tree_map_with_path(draw, _shapes(config))


@functools.cache
def _shapes(config: ModelConfig) -> tipshare.LanguageModel:
    return eqx.filter_eval_shape(config.build, key=jax.random.key(0))


@functools.cache
def build(config: ModelConfig) -> tipshare.LanguageModel:
    """`fill(config)`, kept for the next test."""
    return fill(config)


def random_tokens(*shape: int, seed: int = 0) -> np.ndarray:
    """Random byte ids."""
    return np.random.default_rng(seed).integers(0, 256, shape)


# One shape for most tests, so that they share compilations.
TOKENS, TARGETS = random_tokens(4, 10), random_tokens(4, 10, seed=1)


@functools.cache
def frozen(config: ModelConfig) -> tipshare.LanguageModel:
    """`build(config)`, frozen."""
    return eqx.filter_jit(tipshare.LanguageModel.freeze)(build(config))


def logits_of(model: tipshare.LanguageModel, tokens: np.ndarray) -> np.ndarray:
    """Logits as a plain array."""
    return np.asarray(_logits(model, tokens))


@eqx.filter_jit
def _logits(model: tipshare.LanguageModel, tokens: np.ndarray) -> jax.Array:
    return model(tokens).array
