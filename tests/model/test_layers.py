"""Each plain layer against a few lines of numpy."""

import dataclasses

import haliax as hax
import jax
import numpy as np
import pytest
from haliax import Axis

import tipshare
from tipshare.model.attention import NORMED_SIZE, Attention, attend, scale_to_size
from tipshare.model.layers import LayerNorm, Linear, ShortConvolution
from tipshare.model.positions import Place, rotate

Batch, Position, Embed = Axis("batch", 2), Axis("position", 6), Axis("embed", 4)
Heads, HeadSize = Axis("heads", 2), Axis("head_size", 4)


def random(*axes: Axis, seed: int = 0) -> hax.NamedArray:
    return hax.random.normal(jax.random.key(seed), axes)


def test_linear_multiplies_gates_and_adds():
    weight, bias, before, after = random(Embed, Heads), random(Heads), random(Embed, seed=1), random(Heads, seed=2)
    layer = Linear(weight, bias, before, after, In=(Embed,), Out=(Heads,))
    x = random(Batch, Position, Embed)
    expected = (x.array * before.array) @ weight.array * after.array + bias.array
    np.testing.assert_allclose(layer(x).array, expected, atol=1e-5)
    np.testing.assert_allclose(layer.effective_weight.array, before.array[:, None] * weight.array * after.array)


def test_a_layer_called_unbound_gives_the_parts_of_its_output():
    Part = Axis("part", 3)
    weight, bias = random(Embed, Part, Heads), random(Part, Heads)
    before, after = random(Embed, seed=1), random(Part, Heads, seed=2)
    layer = Linear(weight, bias, before, after, In=(Embed,), Out=(Part, Heads))
    x = random(Batch, Position, Embed)
    for found, expected in zip(layer.call_unbound(x, "part"), layer(x).unbind("part"), strict=True):
        np.testing.assert_allclose(found.array, expected.array, atol=1e-5)
    with pytest.raises(ValueError, match="'heads' must be the first"):
        layer.call_unbound(x, "heads")


def test_norm_centres_scales_and_shifts():
    layer = LayerNorm(random(Embed), random(Embed, seed=1), Embed)
    x = np.asarray(random(Position, Embed, seed=2).array)
    normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    expected = normed * layer.weight.array + layer.bias.array
    np.testing.assert_allclose(layer(hax.named(x, (Position, Embed))).array, expected, atol=1e-5)


def test_convolution_mixes_the_last_few_positions():
    layer = ShortConvolution.init(Embed, 3, key=jax.random.key(0))
    x, weight = np.asarray(random(Position, Embed).array), np.asarray(layer.weight.array)
    for position, found in enumerate(np.asarray(layer.run(hax.named(x, (Position, Embed)))[0].array)):
        seen = [weight[2 - back] * x[position - back] for back in range(min(3, position + 1))]
        np.testing.assert_allclose(found, sum(seen), atol=1e-5)


def test_attention_averages_visible_values_by_softmax():
    Row, KeyPosition = Axis("row", 2), Axis("key_position", 5)
    query = random(Row, Position, HeadSize)
    keys, values = (random(Row, KeyPosition, HeadSize, seed=seed) for seed in (1, 2))
    visible = np.random.default_rng(0).random((Position.size, KeyPosition.size)) < 0.5
    visible[:, 3] = True
    found = attend(query, keys, values, hax.named(visible, (Position, KeyPosition))).array
    q, k, v = (np.asarray(each.array) for each in (query, keys, values))
    for position, seen in enumerate(visible):
        for row in range(Row.size):
            scores = k[row, seen] @ q[row, position] / 2.0  # the root of the head size
            weights = np.exp(scores) / np.exp(scores).sum()
            np.testing.assert_allclose(found[row, position], weights @ v[row, seen], atol=1e-5)


def test_queries_and_keys_of_one_size_make_scores_independent_of_the_size_of_the_weights():
    scaled = np.asarray(scale_to_size(random(Position, Heads, HeadSize)).array)
    np.testing.assert_allclose(np.square(scaled).mean(-1), NORMED_SIZE**2, rtol=1e-4)
    x = random(Position, Embed)
    for normed in (True, False):
        config = tipshare.StandardConfig(hidden_dim=4, num_heads=2, query_key_norm=normed, use_bias=False)
        layer = Attention.init(config, key=jax.random.key(0))
        output = dataclasses.replace(layer.output, weight=layer.output.weight / 10.0)
        larger = dataclasses.replace(
            layer, qkv=dataclasses.replace(layer.qkv, weight=layer.qkv.weight * 10.0), output=output
        )
        before, after = (each.run(x)[0].array for each in (layer, larger))
        assert bool(np.allclose(before, after, atol=1e-4)) == normed


def test_rotary_scores_depend_on_distance_alone():
    rotation = Place.from_start(Position, HeadSize).rotation
    query, key = random(HeadSize).broadcast_axis(Position), random(HeadSize, seed=1).broadcast_axis(Position)
    turned_query, turned_key = (
        np.asarray(rotate(each, rotation).rearrange((Position, HeadSize)).array) for each in (query, key)
    )
    scores = turned_query @ turned_key.T
    for distance in range(1, Position.size):
        along = np.diagonal(scores, -distance)
        np.testing.assert_allclose(along, along[0], atol=1e-5)
    assert abs(scores[1, 0] - scores[2, 0]) > 1e-3
