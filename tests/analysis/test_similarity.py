"""How different depth steps are: against cases with a known answer, and against loops."""

import dataclasses

import equinox as eqx
import haliax as hax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.analysis.grid import TEXT, each_source
from tests.factories import GRID, build, frozen
from tipshare import analysis
from tipshare.analysis.texts import read_text

NOISE = np.random.default_rng(0)


def test_alignment_does_not_see_rotation_and_scale():
    x = NOISE.standard_normal((12, 5))
    rotation = np.linalg.qr(NOISE.standard_normal((5, 5)))[0]
    found = analysis.alignment(np.stack([x, 3.0 * x @ rotation + 7.0, NOISE.standard_normal((12, 5))]))
    assert_allclose(found[0, 1], 1.0)
    assert_allclose(found, found.T)
    assert found[0, 2] < 0.7


def test_alignment_is_zero_for_unrelated_and_for_constant_states():
    wave = np.outer(np.cos(np.arange(8) * np.pi / 4), [1.0, 0.0])
    other = np.outer(np.sin(np.arange(8) * np.pi / 4), [1.0, 0.0])
    found = analysis.alignment(np.stack([wave, other, np.ones((8, 2))]))
    assert_allclose(found, np.diag([1.0, 1.0, 0.0]), atol=1e-12)


def test_updates_of_a_rotation_turn_by_its_angle():
    angle = np.radians(25.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    states = [NOISE.standard_normal((3, 2))]
    for _ in range(4):
        states.append(states[-1] @ turn.T)
    assert_allclose(analysis.update_angles(np.array(states)), 25.0)
    assert_allclose(analysis.update_sizes(np.array(states)), 2 * np.sin(angle / 2))


def test_a_path_that_stands_still_has_no_updates():
    model = build(GRID["tied mlp"])

    def out(each):
        return each.block.attention.output, each.block.mixer.down

    silent = eqx.tree_at(
        out,
        model,
        [eqx.tree_at(lambda w: (w.weight, w.bias), layer, replace_fn=lambda a: a * 0.0) for layer in out(model)],
    )
    found = analysis.stream_change(silent, TEXT)
    assert_allclose(found.update_sizes, 0.0)
    assert_allclose(found.alignment, 1.0)
    assert_allclose(found.ranks, found.ranks[0])


@each_source
def test_stream_change_is_that_of_the_depth_loop_written_out(config):
    model = build(config)
    found = analysis.stream_change(model, TEXT)
    x = model.embed(hax.named(read_text(model, TEXT).ids, "position"))
    states = [x]
    for step in range(model.steps):
        x = model.at((step + 1) / model.steps)(x, model.step_size(model.steps))
        states.append(x)
    states = np.stack([np.asarray(each.rearrange(("position", "embed")).array, np.float64) for each in states])
    assert_allclose(analysis.hidden_states(model, TEXT), states, atol=1e-4)
    place = 4
    before, after = states[0, place], states[1, place]
    assert_allclose(found.update_sizes[0, place], np.linalg.norm(after - before) / np.linalg.norm(before), rtol=1e-4)
    x, y = (each - each.mean(axis=0) for each in (states[0], states[-1]))
    direct = np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))
    assert_allclose(found.alignment[0, -1], direct, rtol=1e-3)


@each_source
def test_attention_use_is_that_of_the_weights_that_average_the_values(config):
    model = build(config)
    found = analysis.attention_use(model, TEXT)
    tokens = hax.named(read_text(model, TEXT).ids, "position")
    x = model.embed(tokens)
    block = model.at(1 / model.steps)
    weights = analysis.attention_weights(block, x).rearrange(("heads", "position", "key_position"))
    # These weights are the ones that attention uses: averaging the values by them gives what it puts out.
    values = block.attention.qkv.call_unbound(block.attention_norm(x), "qkv")[2].rename({"position": "key_position"})
    mixed = block.attention.output(hax.dot(weights, values, axis="key_position"))
    assert_allclose(
        mixed.rearrange(("position", "embed")).array,
        block.attention.run(block.attention_norm(x))[0].rearrange(("position", "embed")).array,
        atol=1e-5,
    )
    plain = np.asarray(weights.array, np.float64)
    for head in range(config.num_heads):
        for place in range(len(TEXT) + 1):
            row = plain[head, place, : place + 1]
            assert_allclose(found.entropies[0, head, place], -(row * np.log2(row)).sum(), atol=1e-4)
            assert_allclose(found.distances[0, head, place], (row * np.arange(place, -1, -1)).sum(), atol=1e-4)


def test_even_attention_has_the_entropy_and_distance_of_an_even_mean():
    model = build(GRID["tied mlp"])
    qkv = model.block.attention.qkv
    still = dataclasses.replace(qkv, weight=qkv.weight * 0.0, bias=qkv.bias * 0.0)
    even = eqx.tree_at(lambda each: each.block.attention.qkv, model, still)
    found = analysis.attention_use(even, TEXT)
    places = np.arange(len(TEXT) + 1)
    assert_allclose(found.entropies, np.broadcast_to(np.log2(places + 1), found.entropies.shape), atol=1e-5)
    assert_allclose(found.distances, np.broadcast_to(places / 2, found.distances.shape), atol=1e-5)


def test_frozen_models_and_other_depth_steps():
    config = GRID["time-indexed-ssm"]
    live, still = analysis.stream_change(build(config), TEXT), analysis.stream_change(frozen(config), TEXT)
    assert_allclose(live.update_sizes, still.update_sizes, atol=1e-4)
    assert len(analysis.stream_change(build(config), TEXT, steps=5).t) == 6
    with pytest.raises(ValueError, match="has exactly 3 layers"):
        analysis.stream_change(build(GRID["standard"]), TEXT, steps=5)


@pytest.mark.parametrize("text", ["", b""])
def test_an_empty_text_is_refused(text):
    model = build(GRID["tied mlp"])
    for function in (
        analysis.hidden_states,
        analysis.stream_change,
        analysis.attention_use,
        analysis.lens,
        analysis.sensitivity,
        analysis.lyapunov_exponents,
    ):
        with pytest.raises(ValueError, match="cannot analyse an empty text: give at least one byte"):
            function(model, text)


def test_weights_of_nan_are_refused():
    model = build(GRID["tied mlp"])
    broken = eqx.tree_at(lambda each: each.block.mixer.up.weight, model, replace_fn=lambda w: w * jnp.nan)
    for function in (
        analysis.stream_change,
        analysis.attention_use,
        analysis.lens,
        analysis.sensitivity,
        analysis.lyapunov_exponents,
    ):
        with pytest.raises(ValueError, match="of this model are NaN or infinite: its weights are damaged"):
            function(broken, TEXT)
