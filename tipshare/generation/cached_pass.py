"""Reading a prompt and writing bytes after it, as compiled functions.

`read` takes the prompts in one pass and fills the caches; `write` then decodes a chunk of bytes. A text is seen
through a sliding window: at every depth step a byte attends to the last `context` bytes, itself included, and the
SSM's state carries on over the whole text. Both caches have a fixed size, so a byte costs the same wherever it stands.

Prompts of different lengths are padded on the left, which lets all rows of a batch write to the same slot of the ring
of keys and values, and rotate by the same angle: only differences of positions matter to rotary attention.
"""

from functools import partial
from typing import NamedTuple

import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from haliax import Axis, NamedArray
from jaxtyping import Array

from tipshare.generation.sampling import Choice, choose, draw_uniform
from tipshare.generation.unrolled import Flat, Unrolled
from tipshare.model.block import Block, BlockCache
from tipshare.model.depth import advance
from tipshare.model.positions import Place

# Bytes decoded per compiled call, at most; a call may stop earlier without being compiled again.
CHUNK = 32
# How many alternatives are reported for every byte.
ALTERNATIVES = 5


class Reading(NamedTuple):
    """How far a batch of texts has been read."""

    logits: Array  # batch, vocab: of the next byte
    caches: tuple[Flat[BlockCache], ...]  # one per evaluation of a block
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


@jax.jit
def read(model: Unrolled, tokens: Array, lengths: Array) -> Reading:
    """Read texts in one pass.

    Args:
        tokens: {batch, position}: texts, each at the right end of its row; no longer than the context.
        lengths: {batch}: how many bytes of each row are text.
    """
    batch, width = tokens.shape
    number = jnp.arange(width) - (width - lengths[:, None])  # of each position in its own text; negative in padding
    is_text = number >= 0
    RotaryHead = None if model.angles is None else model.angles.HeadSize
    place = Place.from_start(Axis("position", width), RotaryHead, hax.named(is_text, ("batch", "position")))
    x, caches = _run_blocks(model, _embed(model, tokens, jnp.maximum(number, 0)), None, place)
    window = jnp.where(is_text, tokens, -1)
    window = jnp.pad(window, ((0, 0), (0, model.context - width)), constant_values=-1)
    return Reading(
        logits=_unembed(model, x),
        caches=caches,
        window=window,
        counts=jax.nn.one_hot(window, model.embedding.axis_size("vocab"), dtype=jnp.int32).sum(1),
        position=lengths,
        character=jnp.zeros(batch, jnp.int32),
        counter=jnp.int32(width),
    )


@partial(jax.jit, donate_argnames="reading")
def write(
    model: Unrolled,
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
        return _read_byte(model, reading, chosen)._replace(character=character), ids, logits

    reading, ids, logits = jax.lax.fori_loop(0, count, one_byte, (reading, ids, logits))
    return reading, _describe(ids, logits)


def _describe(ids: Array, logits: Array) -> Written:
    log_probs = jax.nn.log_softmax(logits)
    vocab = jnp.arange(logits.shape[-1])
    chosen = jnp.max(log_probs, -1, keepdims=True, initial=-jnp.inf, where=vocab == ids[..., None])
    best, alternatives = jax.lax.top_k(log_probs, ALTERNATIVES)
    # Of two bytes with equal probability the smaller one ranks first, as in the choice itself.
    earlier = (log_probs > chosen) | ((log_probs == chosen) & (vocab < ids[..., None]))
    return Written(ids, chosen[..., 0], earlier.sum(-1), alternatives, best)


def _read_byte(model: Unrolled, reading: Reading, byte: Array) -> Reading:
    """Read one more byte of every text: `read` for a single position that continues the caches."""
    slot = jax.lax.rem(reading.counter, model.context)
    age = jax.lax.rem(slot + model.context - jnp.arange(model.context), model.context)
    visible = (age <= reading.position[:, None])[:, None]
    place = Place(
        visible=hax.named(visible, ("batch", "position", "key_position")),
        rotation=None if model.angles is None else model.angles.at(reading.counter),
        slot=hax.named(slot, ()),
    )
    x, caches = _run_blocks(model, _embed(model, byte[:, None], reading.position[:, None]), reading.caches, place)
    leaving = jax.lax.dynamic_index_in_dim(reading.window, slot, axis=1, keepdims=False)
    vocab = jnp.arange(reading.counts.shape[1])
    counts = reading.counts + (vocab == byte[:, None]).astype(jnp.int32) - (vocab == leaving[:, None])
    return Reading(
        logits=_unembed(model, x),
        caches=caches,
        window=jax.lax.dynamic_update_index_in_dim(reading.window, byte, slot, axis=1),
        counts=counts,
        position=reading.position + 1,
        character=reading.character,
        counter=reading.counter + 1,
    )


def _embed(model: Unrolled, tokens: Array, numbers: Array) -> NamedArray:
    """Where the residual stream starts; `numbers` are those of the tokens in their texts."""
    x = model.embedding.take("vocab", hax.named(tokens, ("batch", "position")))
    if model.positions is None:
        return x
    return x + model.positions.rename({"position": "number"}).take("number", hax.named(numbers, ("batch", "position")))


def _unembed(model: Unrolled, x: NamedArray) -> Array:
    """Logits of the byte after the last position."""
    return model.head(model.final_norm(x["position", -1])).array


def _run_blocks(
    model: Unrolled, x: NamedArray, caches: tuple[Flat[BlockCache], ...] | None, place: Place
) -> tuple[NamedArray, tuple[Flat[BlockCache], ...]]:
    """All depth steps, which read on after what the caches hold; None for the start of the texts.

    A solver evaluates a block several times in one depth step. What an evaluation reads differs from what the others
    read, at every position alike, so each has a cache of its own.
    """
    after: list[Flat[BlockCache]] = []

    def next_block(x: NamedArray, step_size: float | None) -> NamedArray:
        place_in_pass = len(after)
        cache = None if caches is None else caches[place_in_pass]
        x, cache = _run_block(model.blocks[place_in_pass], x, step_size, cache, place, model.context)
        after.append(cache)
        return x

    while len(after) < len(model.blocks):
        if model.solver == "euler":
            x = next_block(x, model.step_size)
        else:
            x = advance(model.solver, lambda _, x: next_block(x, None), x, model.step_size)
    return x, tuple(after)


# Compiled code holds the depth steps one after the other, since a loop would copy every step's weights out of a stack
# before using them. As functions of their own under `jit` they are traced once for all depths.
@partial(jax.jit, static_argnames=("step_size", "context"))
def _run_block(
    block: Flat[Block],
    x: NamedArray,
    step_size: float | None,
    cache: Flat[BlockCache] | None,
    place: Place,
    context: int,
) -> tuple[NamedArray, Flat[BlockCache]]:
    """The block's step from `x`, or its slope there if `step_size` is None."""
    before = None if cache is None else cache.tree
    x, after = block.tree.slope(x, before, place) if step_size is None else block.tree.run(x, step_size, before, place)
    return x, Flat.of(after.open_ring(context)) if cache is None else cache.filled_with(after)
