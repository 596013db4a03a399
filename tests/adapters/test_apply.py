"""Adapters on models of every kind: they start as nothing, and are the same applied, merged, frozen and generating."""

import dataclasses
import functools
from typing import get_args

import equinox as eqx
import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import tipshare
from tests.factories import GRID, TOKENS, build, cells, logits_of
from tipshare import adapters
from tipshare.config import ModelConfig
from tipshare.model.depth_change import to_layers, with_depth_steps
from tipshare.model.low_rank import AlongDepth

# One config for every weight source, and the kinds.
CHOSEN = [*tipshare.KINDS, "tied mlp", "own-generated mlp", "published time-indexed-ssm"]
each_source = pytest.mark.parametrize("config", cells({name: GRID[name] for name in CHOSEN}))
MODES = get_args(AlongDepth)
CONTINUOUS = ["neural-ode", "time-indexed-mlp", "time-indexed-ssm"]


@functools.cache
def adapt(config: ModelConfig, along_depth: AlongDepth = "shared") -> tipshare.LanguageModel:
    """A model with adapters that have random numbers in every array."""
    model = adapters.apply(build(config), key=jax.random.key(0), rank=2, along_depth=along_depth)
    noise = np.random.default_rng(1)
    filled = jax.tree.map(lambda leaf: jax.numpy.asarray(noise.normal(0, 0.3, leaf.shape), np.float32), model.adapters)
    return dataclasses.replace(model, adapters=filled)


@eqx.filter_jit
def merged(model: tipshare.LanguageModel) -> tipshare.LanguageModel:
    return adapters.merge(model)


@each_source
def test_new_adapters_change_nothing(config: ModelConfig):
    plain = logits_of(build(config), TOKENS)
    for along_depth in MODES if config.kind == "standard" and config.weights == "own" else MODES[:1]:
        model = adapters.apply(build(config), key=jax.random.key(0), rank=2, along_depth=along_depth)
        assert_allclose(logits_of(model, TOKENS), plain, atol=1e-6)
    assert not np.allclose(logits_of(adapt(config), TOKENS), plain, atol=1e-2)


@each_source
def test_merged_equals_applied_for_every_source(config: ModelConfig):
    model = adapt(config)
    plain = merged(model)
    assert plain.adapters is None
    assert_allclose(logits_of(plain, TOKENS), logits_of(model, TOKENS), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "along_depth"),
    [
        ("standard", "per-depth"),
        ("neural-ode", "time-indexed"),
        ("time-indexed-mlp", "per-depth"),
        ("time-indexed-ssm", "time-indexed"),
    ],
)
def test_merged_frozen_and_generating_equal_applied(kind: str, along_depth: AlongDepth):
    model = adapt(GRID[kind], along_depth)
    wanted = logits_of(model, TOKENS)
    plain, frozen = merged(model), eqx.filter_jit(tipshare.LanguageModel.freeze)(model)
    for each in (plain, frozen):
        assert each.adapters is None
        assert_allclose(logits_of(each, TOKENS), wanted, atol=1e-5, rtol=1e-5)
    applied, folded = (tipshare.generate(each, "The ", max_bytes=3, temperature=0.0) for each in (model, plain))
    assert applied.text == folded.text
    assert_allclose(applied.trace.probabilities, folded.trace.probabilities, atol=1e-5)


def test_adapters_per_depth_and_by_time_differ_along_depth():
    config = GRID["time-indexed-mlp"]
    for along_depth in MODES:
        weight = adapt(config, along_depth).blocks().attention.qkv.weight
        assert weight.has_axis("depth") == (along_depth != "shared")
    model = adapt(config, "per-depth")
    blocks = model.blocks()
    for layer in range(model.steps):
        at = model.at((layer + 1) / model.steps).attention.qkv.weight
        assert_allclose(at.array, blocks.attention.qkv.weight["depth", layer].array, atol=1e-6)


@each_source
def test_layers_of_their_own_are_the_same_function(config: ModelConfig):
    model = build(config)
    steps = 5 if config.is_continuous else None
    grown = to_layers(model, steps)
    assert grown.config.weights == "own"
    assert not grown.is_frozen
    assert_allclose(logits_of(grown, TOKENS), _logits_at(model, steps), atol=1e-4, rtol=1e-4)


@eqx.filter_jit
def _logits_at(model: tipshare.LanguageModel, steps: int | None) -> jax.Array:
    return model(TOKENS, steps=steps).array


@pytest.mark.parametrize("kind", CONTINUOUS)
def test_another_depth_of_its_own(kind: str, tmp_path):
    model = with_depth_steps(build(GRID[kind]), 5)
    assert_allclose(logits_of(model, TOKENS), _logits_at(build(GRID[kind]), 5), atol=1e-6)
    tipshare.save(model, tmp_path / "five")
    assert tipshare.load(tmp_path / "five").steps == 5
    assert with_depth_steps(model, GRID[kind].num_layers).config == GRID[kind]


def test_what_cannot_be_adapted_is_said():
    model, key = build(GRID["standard"]), jax.random.key(0)
    with pytest.raises(ValueError, match="rank=0 must be a whole number, at least 1"):
        adapters.apply(model, key=key, rank=0)
    with pytest.raises(ValueError, match=r"target 'mixer\.leave' is not a dense layer .* mixer\.down"):
        adapters.apply(model, key=key, targets=("mixer.leave",))
    with pytest.raises(ValueError, match="no target"):
        adapters.apply(model, key=key, targets=())
    with pytest.raises(ValueError, match="along_depth='never' is not one of shared"):
        adapters.apply(model, key=key, along_depth="never")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="has adapters already"):
        adapters.apply(adapt(GRID["standard"]), key=key)
    with pytest.raises(ValueError, match="no adapters to merge"):
        adapters.merge(model)
    with pytest.raises(ValueError, match="exactly 3 layers"):
        with_depth_steps(model, 5)
    with pytest.raises(ValueError, match=r"tipshare\.adapters\.save"):
        tipshare.save(adapt(GRID["standard"]), "nowhere")


def test_targets_are_names_or_patterns():
    model = build(GRID["time-indexed-ssm"])
    assert list(adapters.find_targets(model, ["attention"])) == ["attention.qkv", "attention.output"]
    assert list(adapters.find_targets(model, ["*.qkv", "mixer.*state"])) == [
        "attention.qkv",
        "mixer.into_state",
        "mixer.from_state",
    ]


@pytest.mark.parametrize("along_depth", MODES)
@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_adapters_take_a_twentieth_of_the_standard_model_at_most(kind: str, along_depth: AlongDepth):
    standard = tipshare.count_parameters(tipshare.StandardConfig()).total

    def adapted() -> tipshare.LanguageModel:
        model = tipshare.KINDS[kind]().build(key=jax.random.key(0))
        return adapters.apply(model, key=jax.random.key(0), rank=8, along_depth=along_depth)

    counts = tipshare.count_parameters(eqx.filter_eval_shape(adapted))
    assert 0 < counts.adapters <= 0.05 * standard
