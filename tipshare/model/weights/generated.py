"""Weights generated from t by a hypernetwork, as in Tong et al. (ICLR 2025)."""

import dataclasses
import math
from typing import Any

import equinox as eqx
import haliax as hax
import jax
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.block import Block
from tipshare.model.depth import TimeIndexed
from tipshare.model.layers import Layer, Linear, activate, contract
from tipshare.model.weights.source import WeightSource

# The published number of time units. Adam moves every weight by about the same amount, so what a layer puts out moves
# in proportion to the number of its inputs.
REFERENCE_TIME_UNITS = 64


def time_unit_scale(Time: Axis) -> float:
    """64 / time_dim: time units are scaled by it, so that Adam's step size in what they generate stays the same."""
    return REFERENCE_TIME_UNITS / Time.size


class TimeMlp(eqx.Module):
    """A small network of the time features: features -> time -> time, with SiLU between and, usually, after."""

    first: Linear
    second: Linear
    activates_output: bool = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray, activates_output: bool = True) -> "TimeMlp":
        Hidden = config.TimeUnits.alias("time_hidden")
        k_first, k_second = jr.split(key)
        return TimeMlp(
            Linear.init(config.Features, Hidden, key=k_first),
            Linear.init(Hidden, config.TimeUnits, key=k_second, scale=1 / time_unit_scale(Hidden)),
            activates_output,
        )

    def __call__(self, features: NamedArray) -> NamedArray:
        hidden = activate(self.first(features), "silu") * time_unit_scale(self.first.Out[0])
        units = self.second(hidden)
        return activate(units, "silu") if self.activates_output else units


class GeneratedArray(eqx.Module):
    """`value(t) = base + time_unit_scale * time(t) @ projection`.

    An array that starts constant has a fixed number for its base.
    """

    projection: NamedArray  # time x the array's axes
    base: NamedArray | None
    constant: float = eqx.field(static=True)

    @staticmethod
    def init(start: NamedArray, constant: float | None, Time: Axis, *, key: PRNGKeyArray) -> "GeneratedArray":
        projection = hax.zeros((Time, *start.axes))
        if constant is None and start.ndim > 1:
            # Matrices differ along depth from the start, by about as much as they differ from zero: time units leave
            # the SiLU with a root mean square near 0.36.
            spread = hax.std(start) / (0.36 * time_unit_scale(Time) * math.sqrt(Time.size))
            projection = hax.random.normal(key, projection.axes) * spread
        return GeneratedArray(projection, start if constant is None else None, constant or 0.0)

    def at(self, time: NamedArray) -> NamedArray:
        Time, *Out = self.projection.axes
        time = time * time_unit_scale(Time)
        return contract(time, self.projection, (Time,), Out) + (self.constant if self.base is None else self.base)


class Generated(TimeIndexed):
    """A layer all of whose arrays are functions of t."""

    network: TimeMlp | None  # features -> time; None when the model shares one network for all layers
    template: Any  # the layer with its arrays taken out
    arrays: dict[str, GeneratedArray]  # field name -> its generator

    @staticmethod
    def init(config: ModelConfig, layer: Any, *, key: PRNGKeyArray) -> "Generated":
        """Generate every array of `layer`, starting near the values it has."""
        template, starts = take_out_arrays(layer)
        k_network, *keys = jr.split(key, 1 + len(starts))
        arrays = {
            name: GeneratedArray.init(start, layer.constant_start.get(name), config.TimeUnits, key=each)
            for (name, start), each in zip(starts.items(), keys, strict=True)
        }
        network = TimeMlp.init(config, key=k_network) if config.time_network == "separate" else None
        return Generated(network, template, arrays)

    def at(self, time: NamedArray) -> Any:
        if self.network is not None:
            time = self.network(time)
        return dataclasses.replace(self.template, **{name: array.at(time) for name, array in self.arrays.items()})


def take_out_arrays(layer: Any) -> tuple[Any, dict[str, NamedArray]]:
    """A layer without its arrays, and the arrays by field name."""
    arrays = {
        each.name: getattr(layer, each.name)
        for each in dataclasses.fields(layer)
        if isinstance(getattr(layer, each.name), NamedArray)
    }
    return dataclasses.replace(layer, **dict.fromkeys(arrays)), arrays


class GeneratedWeights(WeightSource):
    """Every layer of the block is generated from t."""

    is_continuous = True
    reads_time = True

    def init(self, config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
        del Time
        return generate_block(config, key=key)


def generate_block(config: ModelConfig, *, key: PRNGKeyArray) -> Block:
    """A block all of whose layers are generated from t, starting near a plain block."""
    k_block, k_generators = jr.split(key)
    block = Block.init(config, key=k_block)
    layers, structure = jax.tree.flatten(block, is_leaf=lambda node: isinstance(node, Layer))
    keys = jr.split(k_generators, len(layers))
    generated = [Generated.init(config, layer, key=each) for layer, each in zip(layers, keys, strict=True)]
    return jax.tree.unflatten(structure, generated)
