"""One depth step on plain arrays: over all positions of a prompt, and over one more byte.

The same mathematics as `tipshare.model.block.Block`, which the tests hold it to.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tipshare.generation.packing import ANGLE_BASE, Angles, Dense, Leaf, Norm, PackedLayer, PackedSsm, Shape, Taps
from tipshare.model.attention import HIDDEN_SCORE
from tipshare.model.layers import ACTIVATIONS
from tipshare.model.recurrence import run_recurrence


class LayerCache(NamedTuple):
    """What one depth step remembers of the text; the parts a model does not have are None."""

    # Batch and heads are one axis: with two, XLA makes the shape the matrix product wants in a second copy of the cache
    # and copies it all for every byte instead of updating it in place.
    keys: Array  # batch x heads, slot, head_size; already rotated
    values: Array  # batch x heads, slot, head_size
    attention_tail: Leaf  # batch, tap - 1, embed: inputs the convolution in front of attention still needs
    ssm_tail: Leaf  # batch, tap - 1, channel
    state: Leaf  # batch, state


# Compiled code holds the depth steps one after the other, since a loop would copy every step's weights out of a stack
# before using them. As functions of their own under `jit` they are traced once for all depths.
@partial(jax.jit, static_argnames="shape")
def read_layer(
    layer: PackedLayer,
    shape: Shape,
    x: Array,
    is_text: Array,
    visible: Array,
    rotation: Array | None,
) -> tuple[Array, LayerCache]:
    """One depth step over all positions of {batch, position, embed}, from the start of the texts."""
    text = is_text[..., None]
    y, attention_tail = apply_norm(x, layer.attention_norm), None
    if layer.attention_taps is not None:
        y = jnp.where(text, y, 0.0)
        padded = _pad_before(y, layer.attention_taps)
        y, attention_tail = y + _convolve(padded, layer.attention_taps), _tail(padded, layer.attention_taps)
    query, key, value = _split_heads(apply_dense(y, layer.qkv), shape, rotation)
    mixed = _attend(query, key, value, jnp.repeat(visible, shape.num_heads, axis=0))
    after = x + apply_dense(_join_heads(mixed, shape), layer.output)
    y = apply_norm(x if shape.parallel else after, layer.mixer_norm)
    ssm_tail = state = None
    if isinstance(layer.mixer, PackedSsm):
        ssm = layer.mixer
        entered, branch = jnp.split(apply_dense(y, ssm.enter), 2, axis=-1)
        padded = _pad_before(jnp.where(text, entered, 0.0), ssm.taps)
        u = jax.nn.silu(_convolve(padded, ssm.taps))
        decay, drive = _ssm_step(ssm, u)
        states = run_recurrence(decay, jnp.where(text, drive, 0.0))
        mixed, ssm_tail, state = _ssm_output(ssm, states, u, branch), _tail(padded, ssm.taps), states[:, -1]
    else:
        mixed = apply_dense(ACTIVATIONS[shape.activation](apply_dense(y, layer.mixer.up)), layer.mixer.down)
    unused = ((0, 0), (0, shape.context - x.shape[1]), (0, 0))
    return after + mixed, LayerCache(jnp.pad(key, unused), jnp.pad(value, unused), attention_tail, ssm_tail, state)


@partial(jax.jit, static_argnames="shape")
def read_byte_layer(
    layer: PackedLayer, shape: Shape, x: Array, cache: LayerCache, slot: Array, visible: Array, rotation: Array | None
) -> tuple[Array, LayerCache]:
    """The same depth step for one position, {batch, embed}, after the text in the cache."""
    y, attention_tail = apply_norm(x, layer.attention_norm), None
    if layer.attention_taps is not None:
        padded = jnp.concatenate([cache.attention_tail, y[:, None]], axis=1)
        y, attention_tail = y + _convolve(padded, layer.attention_taps)[:, 0], padded[:, 1:]
    query, key, value = _split_heads(apply_dense(y, layer.qkv)[:, None], shape, rotation)
    keys = jax.lax.dynamic_update_slice_in_dim(cache.keys, key, slot, axis=1)
    values = jax.lax.dynamic_update_slice_in_dim(cache.values, value, slot, axis=1)
    mixed = _attend(query, keys, values, jnp.repeat(visible, shape.num_heads, axis=0)[:, None])
    after = x + apply_dense(mixed.reshape(x.shape), layer.output)
    y = apply_norm(x if shape.parallel else after, layer.mixer_norm)
    ssm_tail = state = None
    if isinstance(layer.mixer, PackedSsm):
        ssm = layer.mixer
        entered, branch = jnp.split(apply_dense(y, ssm.enter), 2, axis=-1)
        padded = jnp.concatenate([cache.ssm_tail, entered[:, None]], axis=1)
        u = jax.nn.silu(_convolve(padded, ssm.taps)[:, 0])
        decay, drive = _ssm_step(ssm, u)
        state, ssm_tail = decay * cache.state + drive, padded[:, 1:]
        mixed = _ssm_output(ssm, state, u, branch)
    else:
        mixed = apply_dense(ACTIVATIONS[shape.activation](apply_dense(y, layer.mixer.up)), layer.mixer.down)
    return after + mixed, LayerCache(keys, values, attention_tail, ssm_tail, state)


def apply_dense(x: Array, dense: Dense) -> Array:
    if dense.input_scale is not None:
        x = x * dense.input_scale
    y = x @ dense.weight
    if dense.output_scale is not None:
        y = y * dense.output_scale
    return y if dense.bias is None else y + dense.bias


def apply_norm(x: Array, norm: Norm) -> Array:
    centred = x - jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(centred * centred, -1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * norm.weight + norm.bias


def _split_heads(qkv: Array, shape: Shape, rotation: Array | None) -> tuple[Array, Array, Array]:
    """{batch, position, 3 x embed} as queries, keys and values of {batch x heads, position, head_size}, rotated."""
    batch, position, _ = qkv.shape
    heads = qkv.reshape(batch, position, 3, shape.num_heads, -1).transpose(2, 0, 3, 1, 4)
    query, key, value = heads.reshape(3, batch * shape.num_heads, position, -1)
    return _rotate(query * query.shape[-1] ** -0.5, rotation), _rotate(key, rotation), value


def _join_heads(mixed: Array, shape: Shape) -> Array:
    """{batch x heads, position, head_size} as {batch, position, embed}."""
    _, position, head_size = mixed.shape
    return (
        mixed.reshape(-1, shape.num_heads, position, head_size)
        .swapaxes(1, 2)
        .reshape(-1, position, shape.num_heads * head_size)
    )


def _attend(query: Array, keys: Array, values: Array, visible: Array) -> Array:
    scores = jnp.einsum("bqd,bkd->bqk", query, keys)
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.where(visible, scores, HIDDEN_SCORE)), values)


def rotation_at(angles: Angles | None, position: Array) -> Array | None:
    """Cosine and sine of every rotary angle at a position, or at many, from two digits by angle addition."""
    if angles is None:
        return None
    (low_cos, low_sin), (high_cos, high_sin) = (
        angles.low[:, position % ANGLE_BASE],
        angles.high[:, position // ANGLE_BASE],
    )
    return jnp.stack([high_cos * low_cos - high_sin * low_sin, high_sin * low_cos + high_cos * low_sin])


def _rotate(x: Array, rotation: Array | None) -> Array:
    if rotation is None:
        return x
    cosine, sine = rotation
    left, right = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([left * cosine - right * sine, right * cosine + left * sine], axis=-1)


def _pad_before(x: Array, taps: Taps) -> Array:
    return jnp.pad(x, ((0, 0), (taps.weight.shape[0] - 1, 0), (0, 0)))


def _convolve(padded: Array, taps: Taps) -> Array:
    length = padded.shape[1] - taps.weight.shape[0] + 1
    return sum(padded[:, tap : tap + length] * weight for tap, weight in enumerate(taps.weight)) + taps.bias


def _tail(padded: Array, taps: Taps) -> Array:
    return padded[:, padded.shape[1] - (taps.weight.shape[0] - 1) :]


def _ssm_step(ssm: PackedSsm, u: Array) -> tuple[Array, Array]:
    """What the state is multiplied with and what is added to it."""
    raw_step, into_state = jnp.split(apply_dense(u, ssm.drive), 2, axis=-1)
    step = jax.nn.softplus(raw_step)
    step = step if ssm.step_scale is None else step * ssm.step_scale
    return jnp.exp(step * ssm.rate), step * into_state


def _ssm_output(ssm: PackedSsm, state: Array, u: Array, branch: Array) -> Array:
    return apply_dense((apply_dense(state, ssm.from_state) + ssm.skip * u) * jax.nn.silu(branch), ssm.leave)
