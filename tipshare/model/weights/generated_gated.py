"""Generated weights times full gates: `value(t) = generated(t) * sigmoid(gate(t))`, as in the published SSM."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.block import Block
from tipshare.model.depth import TimeIndexed
from tipshare.model.layers import GateSlot, Linear
from tipshare.model.weights.gated import Gate, gated_block
from tipshare.model.weights.generated import GeneratedArray, TimeMlp, take_out_arrays
from tipshare.model.weights.source import WeightSource


class GeneratedGated(eqx.Module):
    """The arrays of one layer, generated from time units, and the gate on them, which reads the time features.

    A dense layer's matrix is multiplied by a gate of its shape. Other layers get the gate in their `scale`, behind
    the nonlinearity that they apply to the generated value.
    """

    arrays: dict[str, GeneratedArray]
    gate: Gate
    template: Any  # the layer with its arrays taken out
    field: str = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, layer: Any, field: str, Time: Axis, *, key: PRNGKeyArray) -> "GeneratedGated":
        template, starts = take_out_arrays(layer)
        k_gate, *keys = jr.split(key, 1 + len(starts))
        # No array has a constant for its base: each map from the time units has a bias, as published.
        arrays = {
            name: GeneratedArray.init(start, None, config.TimeUnits, key=each)
            for (name, start), each in zip(starts.items(), keys, strict=True)
        }
        is_dense = isinstance(layer, Linear)
        gate = Gate.init(config, Time, layer.weight.axes if is_dense else layer.scale_axes(field), key=k_gate)
        return GeneratedGated(arrays, gate, template, "weight" if is_dense else field)

    def at(self, units: NamedArray, time: NamedArray) -> Any:
        values = {name: array.at(units) for name, array in self.arrays.items()}
        gate = self.gate(time)
        values[self.field] = values[self.field] * gate if self.field in values else gate
        return dataclasses.replace(self.template, **values)


class GeneratedGatedMixer(TimeIndexed):
    """A mixer whose gated layers are generated, by one network of t for all of them, and gated."""

    shared_fields: ClassVar[tuple[str, ...]] = ("rest",)

    network: TimeMlp | None  # features -> time; None when the model shares one network for all layers
    layers: dict[str, GeneratedGated]  # by slot
    rest: Any  # the mixer without these layers

    @staticmethod
    def init(config: ModelConfig, mixer: Any, Time: Axis, *, key: PRNGKeyArray) -> "GeneratedGatedMixer":
        k_network, *keys = jr.split(key, 1 + len(mixer.gated))
        layers = {
            place.slot: GeneratedGated.init(config, getattr(mixer, place.slot), place.field, Time, key=each)
            for place, each in zip(mixer.gated.values(), keys, strict=True)
        }
        separate = config.time_network == "separate"
        network = TimeMlp.init(config, key=k_network, activates_output=False) if separate else None
        return GeneratedGatedMixer(network, layers, dataclasses.replace(mixer, **dict.fromkeys(layers)))

    @property
    def gated(self) -> dict[str, GateSlot]:
        """Where the mixer is gated."""
        return self.rest.gated

    def at(self, time: NamedArray) -> Any:
        units = time if self.network is None else self.network(time)
        return dataclasses.replace(self.rest, **{slot: each.at(units, time) for slot, each in self.layers.items()})


class GeneratedGatedWeights(WeightSource):
    """The mixer's layers are generated from t and gated; attention is one shared layer behind gates."""

    is_continuous = True
    reads_time = True

    def init(self, config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
        return gated_block(config, Time, GeneratedGatedMixer.init, key=key)
