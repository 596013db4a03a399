"""Reading a prompt and writing bytes, as compiled functions of plain arrays.

`read` takes the prompts in one pass and fills the caches; `write` then decodes a chunk of bytes. A text is seen
through a sliding window: at every depth step a byte attends to the last `context` bytes, itself included, and the
SSM's state carries on over the whole text. Both caches have a fixed size, so a byte costs the same wherever it stands.

Prompts of different lengths are padded on the left, which lets all rows of a batch write to the same slot of the ring
of keys and values, and rotate by the same angle: only differences of positions matter to rotary attention.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from tipshare.generation.cached_layer import (
    LayerCache,
    apply_dense,
    apply_norm,
    read_byte_layer,
    read_layer,
    rotation_at,
)
from tipshare.generation.packing import PackedModel, Shape
from tipshare.generation.sampling import Choice, choose, draw_uniform

# Bytes decoded per compiled call, at most; a call may stop earlier without being compiled again.
CHUNK = 32
# How many alternatives are reported for every byte.
ALTERNATIVES = 5


class Reading(NamedTuple):
    """How far a batch of texts has been read."""

    logits: Array  # batch, vocab: of the next byte
    layers: tuple[LayerCache, ...]
    window: Array  # batch, slot: the bytes in the ring, -1 where there is none yet
    counts: Array  # batch, vocab: how often each byte stands in the window
    position: Array  # batch: of the next byte in its own text
    character: Array  # batch: how far into a UTF-8 character the bytes written are
    counter: Array  # of the next byte in the padded batch; its slot is `counter % context`


class Written(NamedTuple):
    """A chunk of bytes and what the model thought of them; step first, then batch."""

    ids: Array  # step, batch
    log_probs: Array  # step, batch: under the model itself, before temperature and cut-offs
    ranks: Array  # step, batch: 0 for the most probable byte
    alternatives: Array  # step, batch, alternative
    alternative_log_probs: Array  # step, batch, alternative


@partial(jax.jit, static_argnames="shape")
def read(model: PackedModel, shape: Shape, tokens: Array, lengths: Array) -> Reading:
    """Read texts in one pass.

    Args:
        tokens: {batch, position}: texts, each at the right end of its row; no longer than the context.
        lengths: {batch}: how many bytes of each row are text.
    """
    batch, width = tokens.shape
    index = jnp.arange(width)
    is_text = index >= width - lengths[:, None]
    x = model.embedding[tokens]
    if model.positions is not None:
        x = x + model.positions[jnp.maximum(index - (width - lengths[:, None]), 0)]
    rotation = rotation_at(model.angles, index)
    visible = (index[:, None] >= index) & is_text[:, None, :]
    layers = []
    for layer in model.layers:
        x, cache = read_layer(layer, shape, x, is_text, visible, rotation)
        layers.append(cache)
    window = jnp.where(is_text, tokens, -1)
    window = jnp.pad(window, ((0, 0), (0, shape.context - width)), constant_values=-1)
    return Reading(
        logits=_unembed(model, x[:, -1]),
        layers=tuple(layers),
        window=window,
        counts=jax.nn.one_hot(window, model.embedding.shape[0], dtype=jnp.int32).sum(1),
        position=lengths,
        character=jnp.zeros(batch, jnp.int32),
        counter=jnp.int32(width),
    )


@partial(jax.jit, static_argnames="shape", donate_argnames="reading")
def write(
    model: PackedModel,
    shape: Shape,
    reading: Reading,
    choice: Choice,
    keys: Array,
    written: Array | np.int32,
    count: Array | np.int32,
) -> tuple[Reading, Written]:
    """Choose `count` bytes (up to CHUNK), each with all bytes before it read.

    Args:
        keys: A random key per row; the random number of a byte depends on its row's key and its number alone.
        written: How many bytes were written before this chunk.
    """
    batch, vocab = reading.logits.shape
    uniform = draw_uniform(keys, written + jnp.arange(CHUNK))
    ids = jnp.zeros((CHUNK, batch), jnp.int32)
    logits = jnp.zeros((CHUNK, batch, vocab), jnp.float32)

    def one_byte(step, carry):
        reading, ids, logits = carry
        chosen, character = choose(
            reading.logits,
            uniform[step],
            choice,
            reading.counts,
            reading.character,
            choice.limit - (written + step) - 1,
        )
        ids, logits = ids.at[step].set(chosen), logits.at[step].set(reading.logits)
        return _read_byte(model, shape, reading, chosen)._replace(character=character), ids, logits

    reading, ids, logits = jax.lax.fori_loop(0, count, one_byte, (reading, ids, logits))
    return reading, _describe(ids, logits)


def _describe(ids: Array, logits: Array) -> Written:
    log_probs = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(log_probs, ids[..., None], -1)
    best, alternatives = jax.lax.top_k(log_probs, ALTERNATIVES)
    # Of two bytes with equal probability the smaller one ranks first, as in the choice itself.
    earlier = (log_probs > chosen) | ((log_probs == chosen) & (jnp.arange(log_probs.shape[-1]) < ids[..., None]))
    return Written(ids, chosen[..., 0], earlier.sum(-1), alternatives, best)


def _read_byte(model: PackedModel, shape: Shape, reading: Reading, byte: Array) -> Reading:
    """Read one more byte of every text: `read` for a single position that continues the caches."""
    slot = reading.counter % shape.context
    x = model.embedding[byte]
    if model.positions is not None:
        x = x + model.positions[reading.position]
    rotation = rotation_at(model.angles, reading.counter)
    age = (slot - jnp.arange(shape.context)) % shape.context
    visible = age <= reading.position[:, None]
    layers = []
    for layer, cache in zip(model.layers, reading.layers, strict=True):
        x, cache = read_byte_layer(layer, shape, x, cache, slot, visible, rotation)
        layers.append(cache)
    leaving = jax.lax.dynamic_index_in_dim(reading.window, slot, axis=1, keepdims=False)
    vocab = jnp.arange(reading.counts.shape[1])
    counts = reading.counts + (vocab == byte[:, None]).astype(jnp.int32) - (vocab == leaving[:, None])
    return Reading(
        logits=_unembed(model, x),
        layers=tuple(layers),
        window=jax.lax.dynamic_update_index_in_dim(reading.window, byte, slot, axis=1),
        counts=counts,
        position=reading.position + 1,
        character=reading.character,
        counter=reading.counter + 1,
    )


def _unembed(model: PackedModel, x: Array) -> Array:
    return apply_dense(apply_norm(x, model.final_norm), model.head)
