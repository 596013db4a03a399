"""The arrays behind the plots against slow, direct computations."""

import itertools

import haliax as hax
import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import tipshare
from tests.factories import GRID, SMALL, build, each_config, each_kind
from tipshare import analysis
from tipshare.model.depth import turns_of_time
from tipshare.text.tokenizer import BYTES


def depths(model: tipshare.LanguageModel) -> list[float]:
    return [(step + 1) / model.steps for step in range(model.steps)]


def flat(array) -> np.ndarray:
    return np.asarray(array.array, np.float64).ravel()


@each_config
def test_products_are_those_of_the_weights_at_each_depth(config):
    model = build(config)
    found = analysis.weight_products(model)
    layers = [analysis.effective_weights(model.at(t)) for t in depths(model)]
    assert set(found.names) == set(layers[0])
    for name in found.names:
        # Axes may come in another order along depth; the products of whole arrays do not depend on it.
        order = layers[0][name].axes
        rows = np.array([flat(layer[name].rearrange(order)) for layer in layers])
        assert_allclose(found.products[name], rows @ rows.T, rtol=1e-4, atol=1e-5)
        assert_allclose(found.norms(name), np.linalg.norm(rows, axis=1), rtol=1e-4)
    everything = np.array([np.concatenate([flat(layer[name]) for name in found.names]) for layer in layers])
    unit = everything / np.linalg.norm(everything, axis=1, keepdims=True)
    assert_allclose(found.similarity(), unit @ unit.T, atol=1e-5)
    assert_allclose(np.diag(found.similarity()), 1.0, atol=1e-6)
    if config.weights != "tied" and config.time == "indexed":
        assert found.similarity()[0, -1] < 0.9999  # depths differ, and the measure sees it


def test_tied_weights_are_equal_at_every_depth():
    assert_allclose(analysis.weight_products(build(GRID["tied mlp"])).similarity(), 1.0, atol=1e-6)


def test_products_know_their_names():
    with pytest.raises(ValueError, match="no weight is called 'sideways'; this model has attention_in"):
        analysis.weight_products(build(GRID["standard"])).similarity("sideways")


def test_an_effective_weight_is_what_the_layer_multiplies_with():
    model = build(GRID["time-indexed-ssm"])
    block = model.at(0.5)
    weights = analysis.effective_weights(block)
    x = hax.random.normal(jax.random.key(0), model.config.Embed)
    expected = flat(hax.dot(x, weights["attention_in"], axis=model.config.Embed))
    assert_allclose(flat(block.attention.qkv(x)), expected, atol=1e-5)
    u = hax.random.normal(jax.random.key(1), model.config.Channel)
    assert_allclose(flat(block.mixer.skip(u)), flat(u * weights["D"]), atol=1e-6)
    assert_allclose(flat(block.mixer.rate()), flat(weights["A"]), atol=1e-6)
    assert {"enter", "branch", "convolution", "leave", "delta"} <= set(weights)


def test_two_convolutions_have_two_names():
    config = GRID["time-indexed-ssm"].replace(attention_convolution_width=3)
    block = build(config).at(1.0)
    weights = analysis.effective_weights(block)
    assert weights["convolution"].axes == block.mixer.convolution.effective_weight.axes
    assert weights["attention_convolution"].axes == block.attention.convolution.effective_weight.axes


@each_config
def test_unit_values_are_gates_or_lengths_at_each_depth(config):
    model = build(config)
    found = analysis.unit_values(model)
    assert found.are_gates == (config.weights == "gated")
    assert_allclose(found.t, depths(model))
    blocks = [model.at(t) for t in depths(model)]
    for part in ("attention", "mixer"):
        for name, place in getattr(blocks[0], part).gated.items():
            if found.are_gates:
                rows = np.array([flat(model.gates(t)[name]) for t in depths(model)])
            else:
                rows = np.array(
                    [_lengths_directly(getattr(getattr(block, part), place.slot), place) for block in blocks]
                )
                rows = rows / rows.mean(axis=0)
            assert_allclose(found.of(name), rows, rtol=1e-4, atol=1e-5)
            assert_allclose(found.change(name), [np.abs(b - a).mean() for a, b in itertools.pairwise(rows)], atol=1e-5)


def _lengths_directly(layer, place) -> np.ndarray:
    """The length of each unit's weights, one unit after the other."""
    Units = layer.scale_axes(place.field)
    weight = layer.effective_weight
    others = [axis for axis in weight.axes if axis not in Units]
    rows = np.asarray(weight.rearrange((*Units, *others)).array, np.float64)
    rows = rows.reshape(np.prod([axis.size for axis in Units]), -1)
    return np.array([np.sqrt(sum(entry**2 for entry in row)) for row in rows])


@each_kind
def test_curves_pass_through_the_trained_depths_and_agree_with_the_model_between_them(config):
    model = build(config)
    curve, grid = analysis.continuous_units(model), analysis.unit_values(model)
    at_trained = [int(np.argmin(np.abs(curve.t - t))) for t in grid.t]
    assert_allclose(curve.t[at_trained], grid.t)
    for name in grid.names:
        assert_allclose(curve.of(name)[at_trained], grid.of(name), rtol=1e-4, atol=1e-5)
    if not config.is_continuous:
        assert len(curve.t) == model.steps
        return
    assert set(np.arange(1, 51) / 50) <= set(curve.t.round(6))
    assert np.diff(curve.t).max() * turns_of_time(config) < 1 / 4  # no turn of a feature falls between two points
    between = len(curve.t) // 2 + 1
    single = analysis.units_at(model, float(curve.t[between]))
    for name in grid.names:
        assert_allclose(single.of(name)[0], curve.of(name)[between], rtol=1e-4, atol=1e-5)


def test_a_depth_between_layers_is_that_of_the_nearest_layer():
    model = build(GRID["standard"])
    assert analysis.units_at(model, 0.6).t == pytest.approx(2 / 3)
    assert analysis.units_at(model, 0.01).t == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match=r"t=0.0 is not a depth: t lies in \(0, 1\]"):
        analysis.units_at(model, 0.0)


def test_an_unknown_name_is_answered_with_the_names():
    with pytest.raises(ValueError, match="this model has no 'A'; it has attention_in, attention_out, up, down"):
        analysis.unit_values(build(GRID["time-indexed-mlp"])).of("A")


@pytest.mark.parametrize("gate", ["sigmoid", "two-sigmoid", "linear"])
def test_unchanged_is_where_gates_start(gate):
    config = GRID["time-indexed-mlp"].replace(gate=gate, time_frequencies=8)
    gates = analysis.unit_values(config.build(key=jax.random.key(0)))
    for name in gates.names:
        assert abs(np.mean(gates.of(name)) - gates.unchanged) < 0.05


@each_kind
def test_a_hidden_path_is_the_depth_loop_written_out(config):
    model = build(config)
    prompt = "a path"
    path = analysis.hidden_path(model, prompt)
    x = model.embed(hax.named(np.array([BYTES.begin, *prompt.encode()]), "position"))
    streams = [x]
    for t in depths(model):
        x = model.at(t)(x, model.step_size(model.steps))
        streams.append(x)
    last = np.array([np.asarray(each["position", -1].array) for each in streams], np.float64)
    assert_allclose(path.norms, np.linalg.norm(last, axis=1), rtol=1e-4)
    assert_allclose(path.step_sizes, [np.linalg.norm(b - a) for a, b in itertools.pairwise(last)], rtol=1e-3)
    for depth, stream in enumerate(streams):
        logits = np.asarray(model.unembed(stream["position", -1]).array, np.float64)
        chances = np.exp(logits) / np.exp(logits).sum()
        order = np.argsort(-chances)
        assert_allclose(path.probabilities[depth], chances[order[:5]], atol=1e-4)
        assert chances[path.bytes[depth, 0]] == pytest.approx(chances[order[0]], abs=1e-4)
        assert path.entropies[depth] == pytest.approx(-(chances * np.log2(chances)).sum(), abs=1e-3)
        assert path.final_probabilities[depth] == pytest.approx(chances[path.bytes[-1, 0]], abs=1e-4)
    whole = np.asarray(model(np.array([BYTES.begin, *prompt.encode()]))["position", -1].array)
    assert path.bytes[-1, 0] == np.argmax(whole)


def test_a_path_reads_the_end_of_a_long_prompt_and_says_what_it_left_out():
    model = build(GRID["standard"])
    context = model.config.max_position_embeddings
    long, short = "x" * 50 + "y" * context, "y" * context
    assert analysis.hidden_path(model, long).unread == 50
    assert_allclose(analysis.hidden_path(model, long).norms, analysis.hidden_path(model, short).norms, rtol=1e-5)


def test_a_path_may_have_other_depth_steps_where_depth_is_continuous():
    path = analysis.hidden_path(build(GRID["time-indexed-mlp"]), "", steps=5)
    assert_allclose(path.t, np.arange(6) / 5)
    assert path.bytes.shape == (6, 5)
    with pytest.raises(ValueError, match="has exactly 3 layers"):
        analysis.hidden_path(build(GRID["standard"]), "", steps=5)


def test_a_path_needs_an_id_for_every_token():
    with pytest.raises(ValueError, match="has 100 token ids; text needs 256, one per byte"):
        analysis.hidden_path(build(tipshare.StandardConfig(**{**SMALL, "vocab_size": 100})), "a")
