"""Depth: the grid, the scan, freezing, and any number of depth steps."""

import equinox as eqx
import haliax as hax
import jax
import numpy as np
import pytest

import tipshare
from tests.factories import GRID, SMALL, TOKENS, build, each_config, fill, frozen, logits_of
from tipshare.model.depth import TimeEmbedding, depth_grid


def loop_over_depth(model: tipshare.LanguageModel, tokens: np.ndarray) -> np.ndarray:
    """Logits by a plain Python loop over t, one block after the other."""
    x = model.embed(hax.named(tokens, ("batch", "position")))
    step_size = model.step_size(model.steps)
    apply = eqx.filter_jit(lambda block, x: block(x, step_size))
    for i in range(model.steps):
        x = apply(model.at((i + 1) / model.steps), x)
    return np.asarray(model.unembed(x).array)


def test_the_grid_runs_from_one_over_l_to_one():
    np.testing.assert_allclose(depth_grid(4).array, [0.25, 0.5, 0.75, 1.0])


def test_published_time_features():
    config = tipshare.NeuralOdeConfig(time_features="published", time_frequencies=3)
    embedding = TimeEmbedding.init(config, key=jax.random.key(0))
    features = embedding(hax.named(np.float32(0.25), ()), 6).array
    frequencies = 10_000.0 ** -(np.arange(3) / 3)
    expected = [0.25, *np.sin(250.0 * frequencies), *np.cos(250.0 * frequencies)]
    np.testing.assert_allclose(features, expected, atol=2e-5)


def test_smooth_features_turn_by_two_circles_at_most():
    config = tipshare.NeuralOdeConfig(time_features="smooth", time_frequencies=3)
    embedding = TimeEmbedding.init(config, key=jax.random.key(0))
    features = embedding(hax.named(np.float32(0.25), ()), 6).array
    angles = 0.25 * np.pi * np.array([0.25, 1.0, 4.0])
    np.testing.assert_allclose(features, [0.25, *np.sin(angles), *np.cos(angles)], atol=1e-6)


def test_legendre_features_are_numpys_polynomials():
    config = tipshare.NeuralOdeConfig(time_features="legendre", time_frequencies=5)
    embedding = TimeEmbedding.init(config, key=jax.random.key(0))
    t = np.linspace(0.05, 1.0, 9, dtype=np.float32)
    features = embedding(hax.named(t, "depth"), 6).rearrange(("depth", "features")).array
    expected = np.stack([np.polynomial.Legendre.basis(n)(2 * t - 1) for n in range(1, 6)], axis=1)
    np.testing.assert_allclose(features, expected, atol=1e-5)


def test_features_of_the_step_size_tell_two_depths_apart():
    config = tipshare.TimeIndexedMlpConfig(time_features="smooth", step_features=True, **SMALL)
    embedding = TimeEmbedding.init(config, key=jax.random.key(0))
    coarse, fine = (embedding.features(hax.named(np.float32(0.5), ()), steps).array for steps in (2, 8))
    np.testing.assert_array_equal(coarse[:-2], fine[:-2])
    np.testing.assert_allclose([coarse[-2:], fine[-2:]], [[1 / 2, 1 / 4], [1 / 8, 3 / 4]])


def test_configs_from_before_a_choice_keep_what_there_was():
    stored = tipshare.TimeIndexedSsmConfig(time_features="smooth").to_dict()
    stored.pop("time_features")
    stored.pop("query_key_norm")
    config = tipshare.ModelConfig.from_dict(stored)
    assert (config.time_features, config.query_key_norm) == ("published", False)


@each_config
def test_scan_over_depth_equals_a_loop(config):
    model = build(config)
    np.testing.assert_allclose(loop_over_depth(model, TOKENS), logits_of(model, TOKENS), atol=1e-4)


@each_config
def test_frozen_equals_live(config):
    model = build(config)
    np.testing.assert_allclose(logits_of(frozen(config), TOKENS), logits_of(model, TOKENS), atol=1e-5)
    counts = tipshare.count_parameters(frozen(config))
    assert counts.gates == counts.generators == 0


@pytest.mark.parametrize("kind", ["neural-ode", "time-indexed-mlp", "time-indexed-ssm"])
def test_frozen_equals_live_at_other_numbers_of_depth_steps(kind):
    model = build(GRID[kind])
    deeper = logits_of(model.freeze(steps=5), TOKENS)
    np.testing.assert_allclose(deeper, eqx.filter_jit(type(model).__call__)(model, TOKENS, steps=5).array, atol=1e-5)
    assert not np.allclose(deeper, logits_of(model, TOKENS), atol=1e-3)


def test_freezing_keeps_one_copy_of_shared_weights():
    block = build(GRID["time-indexed-mlp"]).freeze(steps=9).block
    assert not block.attention.qkv.weight.has_axis("depth")
    assert block.attention.qkv.input_scale.axis_size("depth") == 9


def test_twice_the_depth_steps_go_the_same_way_in_smaller_steps():
    model = build(tipshare.TimeIndexedMlpConfig(step="residual", **SMALL))
    assert model.step_size(3) == 1.0
    assert model.step_size(6) == 0.5
    assert build(tipshare.NeuralOdeConfig(**SMALL)).step_size(6) == pytest.approx(1 / 6)


def test_holding_time_constant_makes_all_depths_alike():
    constant = build(GRID["gated, time held constant"]).gates(1 / 3)
    for name, values in build(GRID["gated, time held constant"]).gates(1.0).items():
        np.testing.assert_array_equal(values.array, constant[name].array)
    indexed = build(GRID["time-indexed-ssm"])
    assert not np.allclose(indexed.gates(1 / 3)["A"].array, indexed.gates(1.0)["A"].array)


def test_gate_values_are_the_ones_the_pass_uses():
    model = build(GRID["time-indexed-ssm"])
    for i in range(model.steps):
        for name, values in model.gates((i + 1) / model.steps).items():
            slot = {"attention_in": "qkv", "attention_out": "output"}.get(name)
            if slot:
                field = "input_scale" if name == "attention_in" else "output_scale"
                used = getattr(getattr(frozen(GRID["time-indexed-ssm"]).block.attention, slot), field)["depth", i]
                np.testing.assert_allclose(values.array, used.array, atol=1e-6)
            assert values.array.min() > 0
            assert values.array.max() < 1


def test_effective_weight_is_the_base_times_the_gate():
    model = build(GRID["time-indexed-mlp"])
    block, gate = model.at(0.5), model.gates(0.5)["up"]
    base = model.block.mixer.up.layer.weight
    np.testing.assert_allclose(block.mixer.up.effective_weight.array, (base * gate).array, atol=1e-6)


@pytest.mark.parametrize("t", [0.0, -0.1, 1.5, float("nan")])
def test_depths_outside_the_unit_interval_are_refused(t):
    with pytest.raises(ValueError, match=r"t lies in \(0, 1\]"):
        build(GRID["time-indexed-mlp"]).gates(t)


def test_kinds_with_layers_of_their_own_have_no_depth_between():
    standard = build(GRID["standard"])
    assert standard.gates(1 / 3) == {}
    with pytest.raises(ValueError, match="lies between layers"):
        standard.at(0.5)
    with pytest.raises(ValueError, match="exactly 3 layers"):
        standard.freeze(steps=6)
    with pytest.raises(ValueError, match="frozen at 3 depth steps"):
        build(GRID["time-indexed-mlp"]).freeze().freeze(steps=4)
    with pytest.raises(ValueError, match="steps=0 must be a whole number, at least 1"):
        build(GRID["time-indexed-mlp"]).freeze(steps=0)


def test_the_program_to_compile_does_not_grow_with_depth():
    def operations(num_layers: int) -> int:
        model = fill(tipshare.TimeIndexedMlpConfig(**{**SMALL, "num_layers": num_layers}))

        def loss(model):
            return model.compute_loss(TOKENS, TOKENS)

        return eqx.filter_jit(eqx.filter_value_and_grad(loss)).lower(model).as_text().count("stablehlo.")

    assert operations(48) == operations(6) > 100
