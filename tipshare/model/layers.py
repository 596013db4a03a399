"""Plain layers with concrete weights: dense, norm, short convolution, dropout, activations.

Any weight may carry gate vectors beside it (`input_scale`, `output_scale`, `scale`). They are `None` in a plain layer
and filled by `tipshare.model.weights.gated.Gated.at(time)`, so one stored matrix serves every depth and only small
vectors differ.
"""

import abc
import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import Activation
from tipshare.model.derivatives import gelu, standardise


class GateSlot(NamedTuple):
    """Where a gate may act: the slot of a layer in an attention or mixer module, and the layer's field it fills."""

    slot: str
    field: str


class Layer(eqx.Module):
    """A part of a block that holds weights; a weight source may replace it by a time-indexed one.

    `constant_start` names the fields that start at one value everywhere, such as biases at 0.
    """

    constant_start: ClassVar[dict[str, float]] = {}

    @property
    @abc.abstractmethod
    def effective_weight(self) -> NamedArray:
        """The weights this layer computes with, gates included."""


class Linear(Layer):
    """`y = ((x * input_scale) @ weight) * output_scale + bias`, over any number of input and output axes."""

    constant_start: ClassVar[dict[str, float]] = {"bias": 0.0}

    weight: NamedArray  # In x Out
    bias: NamedArray | None  # Out
    input_scale: NamedArray | None = None  # In, the gate on what comes in
    output_scale: NamedArray | None = None  # Out, the gate on what goes out
    In: tuple[Axis, ...] = eqx.field(static=True, kw_only=True)
    Out: tuple[Axis, ...] = eqx.field(static=True, kw_only=True)

    @staticmethod
    def init(
        In: Axis | Sequence[Axis],
        Out: Axis | Sequence[Axis],
        *,
        key: PRNGKeyArray,
        use_bias: bool = True,
        scale: float = 1.0,
    ) -> "Linear":
        """Weights with a spread of `scale / sqrt(inputs)`, biases of zero."""
        In, Out = _as_tuple(In), _as_tuple(Out)
        spread = scale / math.sqrt(_size(In))
        weight = hax.random.normal(key, (*In, *Out)) * spread
        return Linear(weight, hax.zeros(Out) if use_bias else None, In=In, Out=Out)

    def scale_axes(self, field: str) -> tuple[Axis, ...]:
        """The axes of a gate vector, by the name of the field it goes to."""
        return self.In if field == "input_scale" else self.Out

    @property
    def effective_weight(self) -> NamedArray:
        """The one matrix this layer multiplies with, gates included."""
        weight = self.weight
        for gate in (self.input_scale, self.output_scale):
            if gate is not None:
                weight = scale_by(weight, gate)
        return weight

    def __call__(self, x: NamedArray) -> NamedArray:
        if self._meets_few_rows(x):
            x = x if self.input_scale is None else x * self.input_scale
            y = contract(x, self.weight, self.In, self.Out)
            y = y if self.output_scale is None else y * self.output_scale
        else:
            y = contract(x, self.effective_weight, self.In, self.Out)
        return y if self.bias is None else y + self.bias

    def call_unbound(self, x: NamedArray, axis: str) -> list[NamedArray]:
        """`self(x).unbind(axis)`, for the first output axis."""
        if self.Out[0].name != axis:
            raise ValueError(f"axis={axis!r} must be the first of {self.Out}")
        if self._meets_few_rows(x):
            y = self(x)
            return [y[axis, part] for part in range(self.Out[0].size)]
        # A matrix product for each: cutting up the weights costs less than cutting up what comes out of them, and than
        # padding its gradients to add them.
        parts = [contract(x, weight, self.In, self.Out[1:]) for weight in self.effective_weight.unbind(axis)]
        if self.bias is None:
            return parts
        return [part + bias for part, bias in zip(parts, self.bias.unbind(axis), strict=True)]

    def _meets_few_rows(self, x: NamedArray) -> bool:
        """Whether `x` and what comes out of it have fewer entries than the weights.

        Gates scale whatever is smaller, and only what is smaller is cut up: the weights in training, where thousands
        of positions go through them at once; the activations in generation, where one byte does.
        """
        rows = x.size // _size(self.In)
        return rows < min(_size(self.In), _size(self.Out))


def scale_by(weight: NamedArray, gate: NamedArray) -> NamedArray:
    """A weight times a gate; a gate along `depth` gives a weight for every depth."""
    return weight.broadcast_axis([axis for axis in gate.axes if axis not in weight.axes]) * gate


def contract(x: NamedArray, weight: NamedArray, In: Sequence[Axis], Out: Sequence[Axis]) -> NamedArray:
    """`x` times `weight`, summed over `In`, as one matrix product over a single flattened token axis.

    The same product on {batch, position, ...} arrays makes XLA's CPU weight gradients up to twice as slow.
    """
    In, Out = tuple(In), tuple(Out)
    Lead = tuple(axis for axis in x.axes if axis not in In)
    rows = x.rearrange((*Lead, *In)).array.reshape(-1, _size(In))
    matrix = weight.rearrange((*In, *Out)).array.reshape(_size(In), _size(Out))
    return hax.named((rows @ matrix).reshape([axis.size for axis in (*Lead, *Out)]), (*Lead, *Out))


class LayerNorm(Layer):
    """`(x - mean) / deviation * weight + bias` over one axis, computed in float32."""

    constant_start: ClassVar[dict[str, float]] = {"weight": 1.0, "bias": 0.0}

    weight: NamedArray
    bias: NamedArray
    Over: Axis = eqx.field(static=True)

    @staticmethod
    def init(Over: Axis) -> "LayerNorm":
        return LayerNorm(hax.ones(Over), hax.zeros(Over), Over)

    @property
    def effective_weight(self) -> NamedArray:
        """One factor per unit."""
        return self.weight

    def __call__(self, x: NamedArray) -> NamedArray:
        wide = x.rearrange((..., self.Over)).astype(jnp.float32)
        y = hax.named(standardise(wide.array), wide.axes) * self.weight + self.bias
        return y.astype(x.dtype)


class ShortConvolution(Layer):
    """A causal depthwise convolution along positions: each channel mixes its last few values."""

    constant_start: ClassVar[dict[str, float]] = {"bias": 0.0}

    weight: NamedArray  # tap x channel; the last tap is the present position
    bias: NamedArray  # channel
    Over: Axis = eqx.field(static=True)
    Tap: Axis = eqx.field(static=True)

    @staticmethod
    def init(Over: Axis, width: int, *, key: PRNGKeyArray) -> "ShortConvolution":
        Tap = Axis("tap", width)
        return ShortConvolution(hax.random.normal(key, (Tap, Over)) / math.sqrt(width), hax.zeros(Over), Over, Tap)

    @property
    def effective_weight(self) -> NamedArray:
        """The taps: no gate acts on them."""
        return self.weight

    def run(self, x: NamedArray, before: NamedArray | None = None) -> tuple[NamedArray, NamedArray]:
        """Convolve along `position`; also return the last inputs, which the position after `x` will need.

        Args:
            before: The inputs of the `width - 1` positions before the first; None for the zeros before a text.
        """
        length, kept = x.axis_size("position"), self.Tap.size - 1
        if before is None:
            Before = Axis("position", kept)
            before = hax.zeros(tuple(Before if axis.name == "position" else axis for axis in x.axes), dtype=x.dtype)
        padded = hax.concatenate(Axis("position", kept + length), [before, x])
        taps = [padded["position", tap : tap + length] * self.weight["tap", tap] for tap in range(self.Tap.size)]
        return sum(taps[1:], taps[0]) + self.bias, padded["position", length:]


def dropout(x: NamedArray, rate: float, key: PRNGKeyArray | None) -> NamedArray:
    """Zero a share of the entries and scale up the rest; without a key (evaluation) do nothing."""
    if key is None or rate == 0.0:
        return x
    keep = hax.random.bernoulli(key, x.axes, 1.0 - rate)
    return hax.where(keep, x / (1.0 - rate), 0.0).astype(x.dtype)


def split_key(key: PRNGKeyArray | None, count: int) -> list[PRNGKeyArray | None]:
    """`count` keys, or as many times None when dropout is off."""
    return [None] * count if key is None else list(jr.split(key, count))


ACTIVATIONS = {
    "gelu": gelu,
    "gelu-exact": lambda x: jax.nn.gelu(x, approximate=False),
    "relu": jax.nn.relu,
    "relu-squared": lambda x: jnp.square(jax.nn.relu(x)),
    "silu": jax.nn.silu,
    "tanh": jnp.tanh,
}


def activate(x: NamedArray, name: Activation) -> NamedArray:
    """Apply a nonlinearity by name to every entry."""
    return hax.named(ACTIVATIONS[name](x.array), x.axes)


def _as_tuple(axes: Axis | Sequence[Axis]) -> tuple[Axis, ...]:
    return (axes,) if isinstance(axes, Axis) else tuple(axes)


def _size(axes: Sequence[Axis]) -> int:
    return math.prod(axis.size for axis in axes)
