"""Shared weights with a gate per unit: `W(t) = W * sigmoid(g(t))`."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import equinox as eqx
import haliax as hax
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import Gate as GateFunction
from tipshare.config import ModelConfig
from tipshare.model.block import Block
from tipshare.model.depth import TimeIndexed
from tipshare.model.layers import Linear
from tipshare.model.weights.generated import Generated
from tipshare.model.weights.source import WeightSource


class Gate(eqx.Module):
    """One value per unit as a function of t: `sigmoid(time @ weight + bias)`, or a wider function of the same."""

    linear: Linear  # time -> units
    function: GateFunction = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, Time: Axis, Units: Sequence[Axis], *, key: PRNGKeyArray) -> "Gate":
        # Small weights: at the start all depths are nearly alike, and training decides how far they part.
        linear = Linear.init(Time, Units, key=key, scale=0.1)
        start = 0.0 if config.gate == "linear" else config.gate_start
        return Gate(dataclasses.replace(linear, bias=hax.full(tuple(Units), start)), config.gate)

    def __call__(self, time: NamedArray) -> NamedArray:
        g = self.linear(time)
        if self.function == "linear":
            return 1.0 + g
        return hax.nn.sigmoid(g) * (2.0 if self.function == "two-sigmoid" else 1.0)


class Gated(TimeIndexed):
    """A layer shared by all depths, and the gate that fills one of its scale fields."""

    shared_fields: ClassVar[tuple[str, ...]] = ("layer",)

    layer: Any
    gate: Gate
    field: str = eqx.field(static=True)

    def at(self, time: NamedArray) -> Any:
        return dataclasses.replace(self.layer, **{self.field: self.gate(time)})


def gate_layers(config: ModelConfig, part: Any, Time: Axis, *, key: PRNGKeyArray) -> Any:
    """`part` (an attention or mixer module) with the layers that its class lists in `gated` behind gates."""
    keys = jr.split(key, len(part.gated))
    changes = {}
    for place, each in zip(part.gated.values(), keys, strict=True):
        layer = getattr(part, place.slot)
        gate = Gate.init(config, Time, layer.scale_axes(place.field), key=each)
        changes[place.slot] = Gated(layer, gate, place.field)
    return dataclasses.replace(part, **changes)


def gated_block(config: ModelConfig, Time: Axis, gate_mixer: Callable[..., Any], *, key: PRNGKeyArray) -> Block:
    """One block with gated attention, generated norms, and the mixer that `gate_mixer` makes of its own."""
    k_block, k_attention, k_mixer, k_first, k_second = jr.split(key, 5)
    block = Block.init(config, key=k_block)
    return dataclasses.replace(
        block,
        attention_norm=Generated.init(config, block.attention_norm, key=k_first),
        attention=gate_layers(config, block.attention, Time, key=k_attention),
        mixer_norm=Generated.init(config, block.mixer_norm, key=k_second),
        mixer=gate_mixer(config, block.mixer, Time, key=k_mixer),
    )


class GatedWeights(WeightSource):
    """One shared block; attention and mixer are gated by t, and the norms are generated from t."""

    is_continuous = True
    reads_time = True

    def init(self, config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
        return gated_block(config, Time, gate_layers, key=key)
