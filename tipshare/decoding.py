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
from jaxtyping import Array, Bool, Float, Int

from tipshare.attention import HIDDEN_SCORE
from tipshare.layers import ACTIVATIONS
from tipshare.packing import ANGLE_BASE, Angles, Dense, Norm, PackedLayer, PackedModel, PackedSsm, Shape, Taps
from tipshare.sampling import Choice, choose, draw_uniform

# Bytes decoded per compiled call, at most; a call may stop earlier without being compiled again.
CHUNK = 32
# How many alternatives are reported for every byte.
ALTERNATIVES = 5


class LayerCache(NamedTuple):
    """What one depth step remembers of the text; the parts a model does not have are None."""

    # Batch and heads are one axis: with two, XLA makes the shape the matrix product wants in a second copy of the cache
    # and copies it all for every byte instead of updating it in place.
    keys: Array  # batch x heads, slot, head_size; already rotated
    values: Array  # batch x heads, slot, head_size
    attention_tail: Array | None  # batch, tap - 1, embed: inputs the convolution in front of attention still needs
    ssm_tail: Array | None  # batch, tap - 1, channel
    state: Array | None  # batch, state


class Reading(NamedTuple):
    """How far a batch of texts has been read."""

    logits: Float[Array, "batch vocab"]  # of the next byte
    layers: tuple[LayerCache, ...]
    window: Int[Array, "batch slot"]  # the bytes in the ring, -1 where there is none yet
    counts: Int[Array, "batch vocab"]  # how often each byte stands in the window
    position: Int[Array, " batch"]  # of the next byte in its own text
    character: Int[Array, " batch"]  # how far into a UTF-8 character the bytes written are
    counter: Int[Array, ""]  # of the next byte in the padded batch; its slot is `counter % context`


class Written(NamedTuple):
    """A chunk of bytes and what the model thought of them; step first, then batch."""

    ids: Int[Array, "step batch"]
    log_probs: Float[Array, "step batch"]  # under the model itself, before temperature and cut-offs
    ranks: Int[Array, "step batch"]  # 0 for the most probable byte
    alternatives: Int[Array, "step batch alternative"]
    alternative_log_probs: Float[Array, "step batch alternative"]


@partial(jax.jit, static_argnames="shape")
def read(
    model: PackedModel, shape: Shape, tokens: Int[Array, "batch position"], lengths: Int[Array, " batch"]
) -> Reading:
    """Read texts in one pass.

    Args:
        tokens: Texts, each at the right end of its row; no longer than the context.
        lengths: How many bytes of each row are text.
    """
    batch, width = tokens.shape
    index = jnp.arange(width)
    is_text = index >= width - lengths[:, None]
    x = model.embedding[tokens]
    if model.positions is not None:
        x = x + model.positions[jnp.maximum(index - (width - lengths[:, None]), 0)]
    rotation = _rotation(model.angles, index)
    visible = (index[:, None] >= index) & is_text[:, None, :]
    layers = []
    for layer in model.layers:
        x, cache = _read_layer(layer, shape, x, is_text, visible, rotation)
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
    written: Int[Array, ""],
    count: Int[Array, ""],
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
    rotation = _rotation(model.angles, reading.counter)
    age = (slot - jnp.arange(shape.context)) % shape.context
    visible = age <= reading.position[:, None]
    layers = []
    for layer, cache in zip(model.layers, reading.layers, strict=True):
        x, cache = _read_byte_layer(layer, shape, x, cache, slot, visible, rotation)
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


# Compiled code holds the depth steps one after the other, since a loop would copy every step's weights out of a stack
# before using them. As functions of their own under `jit` they are traced once for all depths.
@partial(jax.jit, static_argnames="shape")
def _read_layer(
    layer: PackedLayer,
    shape: Shape,
    x: Array,
    is_text: Bool[Array, "batch position"],
    visible: Array,
    rotation: Array | None,
) -> tuple[Array, LayerCache]:
    """One depth step over all positions of {batch, position, embed}, from the start of the texts."""
    text = is_text[..., None]
    y, attention_tail = _norm(x, layer.attention_norm), None
    if layer.attention_taps is not None:
        y = jnp.where(text, y, 0.0)
        padded = _pad_before(y, layer.attention_taps)
        y, attention_tail = y + _convolve(padded, layer.attention_taps), _tail(padded, layer.attention_taps)
    query, key, value = _split_heads(_dense(y, layer.qkv), shape, rotation)
    mixed = _attend(query, key, value, jnp.repeat(visible, shape.num_heads, axis=0))
    after = x + _dense(_join_heads(mixed, shape), layer.output)
    y = _norm(x if shape.parallel else after, layer.mixer_norm)
    ssm_tail = state = None
    if isinstance(layer.mixer, PackedSsm):
        ssm = layer.mixer
        entered, branch = jnp.split(_dense(y, ssm.enter), 2, axis=-1)
        padded = _pad_before(jnp.where(text, entered, 0.0), ssm.taps)
        u = jax.nn.silu(_convolve(padded, ssm.taps))
        decay, drive = _ssm_step(ssm, u)
        states = _scan_states(decay, jnp.where(text, drive, 0.0))
        mixed, ssm_tail, state = _ssm_output(ssm, states, u, branch), _tail(padded, ssm.taps), states[:, -1]
    else:
        mixed = _dense(ACTIVATIONS[shape.activation](_dense(y, layer.mixer.up)), layer.mixer.down)
    unused = ((0, 0), (0, shape.context - x.shape[1]), (0, 0))
    return after + mixed, LayerCache(jnp.pad(key, unused), jnp.pad(value, unused), attention_tail, ssm_tail, state)


@partial(jax.jit, static_argnames="shape")
def _read_byte_layer(
    layer: PackedLayer, shape: Shape, x: Array, cache: LayerCache, slot: Array, visible: Array, rotation: Array | None
) -> tuple[Array, LayerCache]:
    """The same depth step for one position, {batch, embed}, after the text in the cache."""
    y, attention_tail = _norm(x, layer.attention_norm), None
    if layer.attention_taps is not None:
        padded = jnp.concatenate([cache.attention_tail, y[:, None]], axis=1)
        y, attention_tail = y + _convolve(padded, layer.attention_taps)[:, 0], padded[:, 1:]
    query, key, value = _split_heads(_dense(y, layer.qkv)[:, None], shape, rotation)
    keys = jax.lax.dynamic_update_slice_in_dim(cache.keys, key, slot, axis=1)
    values = jax.lax.dynamic_update_slice_in_dim(cache.values, value, slot, axis=1)
    mixed = _attend(query, keys, values, jnp.repeat(visible, shape.num_heads, axis=0)[:, None])
    after = x + _dense(mixed.reshape(x.shape), layer.output)
    y = _norm(x if shape.parallel else after, layer.mixer_norm)
    ssm_tail = state = None
    if isinstance(layer.mixer, PackedSsm):
        ssm = layer.mixer
        entered, branch = jnp.split(_dense(y, ssm.enter), 2, axis=-1)
        padded = jnp.concatenate([cache.ssm_tail, entered[:, None]], axis=1)
        u = jax.nn.silu(_convolve(padded, ssm.taps)[:, 0])
        decay, drive = _ssm_step(ssm, u)
        state, ssm_tail = decay * cache.state + drive, padded[:, 1:]
        mixed = _ssm_output(ssm, state, u, branch)
    else:
        mixed = _dense(ACTIVATIONS[shape.activation](_dense(y, layer.mixer.up)), layer.mixer.down)
    return after + mixed, LayerCache(keys, values, attention_tail, ssm_tail, state)


def _unembed(model: PackedModel, x: Array) -> Array:
    return _dense(_norm(x, model.final_norm), model.head)


def _dense(x: Array, dense: Dense) -> Array:
    if dense.input_scale is not None:
        x = x * dense.input_scale
    y = x @ dense.weight
    if dense.output_scale is not None:
        y = y * dense.output_scale
    return y if dense.bias is None else y + dense.bias


def _norm(x: Array, norm: Norm) -> Array:
    centred = x - jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(centred * centred, -1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * norm.weight + norm.bias


def _split_heads(qkv: Array, shape: Shape, rotation: Array | None) -> tuple[Array, Array, Array]:
    """{batch, position, 3 x embed} as queries, keys and values of {batch x heads, position, head_size}, rotated."""
    batch, position, width = qkv.shape
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


def _rotation(angles: Angles | None, position: Array) -> Array | None:
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
    raw_step, into_state = jnp.split(_dense(u, ssm.drive), 2, axis=-1)
    step = jax.nn.softplus(raw_step)
    step = step if ssm.step_scale is None else step * ssm.step_scale
    return jnp.exp(step * ssm.rate), step * into_state


def _ssm_output(ssm: PackedSsm, state: Array, u: Array, branch: Array) -> Array:
    return _dense((_dense(state, ssm.from_state) + ssm.skip * u) * jax.nn.silu(branch), ssm.leave)


def _scan_states(decay: Array, drive: Array) -> Array:
    """h_p = decay_p h_(p-1) + drive_p along axis 1."""

    def then(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
        return first[0] * second[0], first[1] * second[0] + second[1]

    return jax.lax.associative_scan(then, (decay, drive), axis=1)[1]
