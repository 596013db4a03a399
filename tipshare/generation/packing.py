"""A frozen model as plain arrays, one small tuple per depth step: what decoding multiplies with.

This is the one place where named arrays are dropped for speed. The matrices of the kinds that share a block stay one
array that every depth step points at; only gate vectors and norms differ, and they are folded together where that is
exact, so that a shared block stays in the processor's cache while it is used at every depth.
"""

import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from haliax import Axis, NamedArray
from jaxtyping import Array

from tipshare.config import Activation, ModelConfig
from tipshare.generation.sampling import MOST_BYTES
from tipshare.model.block import Block
from tipshare.model.language_model import LanguageModel
from tipshare.model.layers import LayerNorm, Linear, ShortConvolution
from tipshare.model.ssm import Ssm
from tipshare.text.tokenizer import VOCAB_SIZE

# Rotary angles are kept for two digits of the position in this base: exact however long the text grows, where
# position times rate in float32 would be off by a twentieth of a radian after a million bytes.
ANGLE_BASE = 1024


# A named array while the model is being packed, a plain one after; None where a layer has no such part.
Leaf = Any


class Dense(NamedTuple):
    """`y = ((x * input_scale) @ weight) * output_scale + bias`; absent parts are None."""

    weight: Leaf  # in x out
    bias: Leaf
    input_scale: Leaf
    output_scale: Leaf


class Norm(NamedTuple):
    """Weight and bias of a layer norm, with the gate of the layer behind it folded in."""

    weight: Leaf
    bias: Leaf


class Taps(NamedTuple):
    """A short causal convolution; the last tap is the present position."""

    weight: Leaf  # tap x channel
    bias: Leaf


class PackedMlp(NamedTuple):
    up: Dense
    down: Dense


class PackedSsm(NamedTuple):
    enter: Dense  # embed -> channel (u) | channel (z)
    taps: Taps
    drive: Dense  # channel -> state (delta) | state (B u)
    step_scale: Leaf  # the gate of delta
    rate: Leaf  # A, gate included
    from_state: Dense
    skip: Leaf  # D, gate included
    leave: Dense


class PackedLayer(NamedTuple):
    """One depth step; the step size is folded into the layers that write to the residual stream."""

    attention_norm: Norm
    attention_taps: Taps | None
    qkv: Dense  # embed -> query | key | value, each heads x head_size
    output: Dense
    mixer_norm: Norm
    mixer: PackedMlp | PackedSsm


class Angles(NamedTuple):
    """Cosine and sine of every rotary rate times `i` (low) and times `i * ANGLE_BASE` (high)."""

    low: Array  # 2 x ANGLE_BASE x pair
    high: Array  # 2 x as many as the longest text needs x pair


class PackedModel(NamedTuple):
    """All weights of one pass, float32."""

    embedding: Array  # vocab x embed
    positions: Array | None  # position x embed
    angles: Angles | None
    layers: tuple[PackedLayer, ...]
    final_norm: Norm
    head: Dense


@dataclass(frozen=True)
class Shape:
    """What compiled code depends on beside the shapes of the arrays."""

    num_heads: int
    context: int
    parallel: bool
    activation: Activation


@dataclass(frozen=True)
class Packed:
    """A model made ready for decoding by `pack`."""

    weights: PackedModel
    shape: Shape


_packed: dict[tuple[int, int], tuple[weakref.ref, Packed]] = {}


def pack(model: LanguageModel, steps: int | None = None) -> Packed:
    """Freeze `model` at a number of depth steps and pack it; done once per model and number."""
    if model.config.vocab_size < VOCAB_SIZE:
        raise ValueError(
            f"the model has {model.config.vocab_size} token ids; generating text needs one per byte, {VOCAB_SIZE}"
        )
    key = (id(model), model.steps if steps is None else steps)
    known = _packed.get(key)
    if known is not None and known[0]() is model:
        return known[1]
    shared, per_depth, rest = _pack_arrays(model, steps)
    layers = tuple(eqx.combine(each, shared) for each in per_depth)
    config = model.config
    angles = _angle_tables(config) if config.positions == "rotary" else None
    packed = Packed(
        PackedModel(layers=layers, angles=angles, **rest),
        Shape(
            config.num_heads, config.max_position_embeddings, config.branches == "parallel", config.activation_function
        ),
    )
    _packed[key] = (weakref.ref(model, lambda _: _packed.pop(key, None)), packed)
    return packed


@eqx.filter_jit
def _pack_arrays(model: LanguageModel, steps: int | None) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Leaves shared by all depth steps, leaves of each depth step, and the parts outside the block."""
    frozen = model.freeze(steps)
    frozen = jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf, frozen)
    layer = _pack_block(frozen.block, frozen.step_size(frozen.steps))

    def is_named(node: Any) -> bool:
        return isinstance(node, NamedArray)

    def split(leaf: NamedArray, step: int | None) -> Array | None:
        if leaf.has_axis("depth") is (step is None):
            return None
        return leaf.array if step is None else leaf["depth", step].array

    shared = jax.tree.map(lambda leaf: split(leaf, None), layer, is_leaf=is_named)
    per_depth = tuple(
        jax.tree.map(lambda leaf, step=step: split(leaf, step), layer, is_leaf=is_named) for step in range(frozen.steps)
    )
    head = frozen.head.weight.rearrange(("embed", "vocab")).array[:, :VOCAB_SIZE]
    rest = {
        "embedding": frozen.embedding.rearrange(("vocab", "embed")).array[:VOCAB_SIZE],
        "positions": None if frozen.positions is None else frozen.positions.rearrange(("position", "embed")).array,
        "final_norm": Norm(frozen.final_norm.weight.array, frozen.final_norm.bias.array),
        "head": Dense(head, None, None, None),
    }
    return shared, per_depth, rest


def _pack_block(block: Block, step_size: float) -> PackedLayer:
    attention, mixer = block.attention, block.mixer
    taps = None if attention.convolution is None else _taps(attention.convolution)
    attention_norm, taps, qkv = _fold_gate(_norm(block.attention_norm), taps, _dense(attention.qkv))
    output = _shrink(_dense(attention.output), step_size)
    mixer_norm = _norm(block.mixer_norm)
    if isinstance(mixer, Ssm):
        return PackedLayer(attention_norm, taps, qkv, output, mixer_norm, _pack_ssm(mixer, step_size))
    mixer_norm, _, up = _fold_gate(mixer_norm, None, _dense(mixer.up))
    packed_mlp = PackedMlp(up, _shrink(_dense(mixer.down), step_size))
    return PackedLayer(attention_norm, taps, qkv, output, mixer_norm, packed_mlp)


def _pack_ssm(ssm: Ssm, step_size: float) -> PackedSsm:
    delta = ssm.step_size
    weight, bias = delta.weight.rename({"channel": "in", "state": "out"}), delta.bias.rename({"state": "out"})
    step = Dense(_leading_depth(weight), _leading_depth(bias), None, None)
    return PackedSsm(
        enter=_side_by_side(_dense(ssm.enter), _dense(ssm.branch)),
        taps=_taps(ssm.convolution),
        drive=_side_by_side(step, _dense(ssm.into_state)),
        step_scale=None if delta.scale is None else _leading_depth(delta.scale),
        rate=_leading_depth(ssm.rate()),
        from_state=_dense(ssm.from_state),
        skip=_leading_depth(ssm.skip.weight if ssm.skip.scale is None else ssm.skip.weight * ssm.skip.scale),
        leave=_shrink(_dense(ssm.leave), step_size),
    )


def _fold_gate(norm: Norm, taps: Taps | None, dense: Dense) -> tuple[Norm, Taps | None, Dense]:
    """Move a layer's input gate into the norm before it; a convolution between works unit by unit and lets it by."""
    gate = dense.input_scale
    if gate is None:
        return norm, taps, dense
    if taps is not None:
        taps = taps._replace(bias=_leading_depth(taps.bias * gate.rename({"in": "embed"})))
    norm = Norm(_leading_depth(norm.weight * gate), _leading_depth(norm.bias * gate))
    return norm, taps, dense._replace(input_scale=None)


def _norm(norm: LayerNorm) -> Norm:
    weight, bias = (array.rename({norm.Over.name: "in"}) for array in (norm.weight, norm.bias))
    return Norm(_leading_depth(weight), _leading_depth(bias))


def _dense(linear: Linear) -> Dense:
    """A linear layer over single axes `in` and `out`, still named, with `depth` first where there is one."""

    def flat(array: NamedArray | None) -> NamedArray | None:
        if array is None:
            return None
        for axes, name in ((linear.In, "in"), (linear.Out, "out")):
            if array.has_axis(axes[0].name):
                array = array.flatten_axes(axes, name)
        return _leading_depth(array)

    return Dense(flat(linear.weight), flat(linear.bias), flat(linear.input_scale), flat(linear.output_scale))


def _side_by_side(left: Dense, right: Dense) -> Dense:
    """Two layers that read the same input as one layer with both outputs."""

    def join(first: Leaf, second: Leaf, missing: float) -> Leaf:
        if first is None and second is None:
            return None
        first = hax.full_like(second, missing) if first is None else first
        second = hax.full_like(first, missing) if second is None else second
        Out = Axis("out", first.axis_size("out") + second.axis_size("out"))
        return _leading_depth(hax.concatenate(Out, [first, second]))

    weight, bias = join(left.weight, right.weight, 0.0), join(left.bias, right.bias, 0.0)
    return Dense(weight, bias, None, join(left.output_scale, right.output_scale, 1.0))


def _shrink(dense: Dense, step_size: float) -> Dense:
    """Fold the depth step size into what a layer puts out."""
    if step_size == 1.0:
        return dense
    scale = hax.ones(dense.weight.resolve_axis("out")) if dense.output_scale is None else dense.output_scale
    return dense._replace(output_scale=scale * step_size, bias=None if dense.bias is None else dense.bias * step_size)


def _taps(convolution: ShortConvolution) -> Taps:
    return Taps(_leading_depth(convolution.weight), _leading_depth(convolution.bias))


def _leading_depth(array: NamedArray) -> NamedArray:
    """`array` with `depth` first, if it has that axis; matrices stay (in, out), which products read best."""
    order = [name for name in ("depth", "tap", "in") if array.has_axis(name)]
    return array.rearrange((*order, ...)) if order else array


def _angle_tables(config: ModelConfig) -> Angles:
    pairs = config.HeadSize.size // 2
    rates = 10_000.0 ** (-np.arange(pairs) / pairs)
    longest = config.max_position_embeddings + MOST_BYTES

    def table(positions: np.ndarray) -> Array:
        angles = positions[:, None] * rates
        return jnp.asarray(np.stack([np.cos(angles), np.sin(angles)]), jnp.float32)

    return Angles(table(np.arange(ANGLE_BASE)), table(np.arange(longest // ANGLE_BASE + 2) * ANGLE_BASE))
