"""Weights generated from t by a hypernetwork, as in Tong et al. (ICLR 2025)."""

import dataclasses
import math
from typing import Any

import equinox as eqx
import haliax as hax
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.depth import TimeIndexed
from tipshare.model.layers import Linear, activate, contract

# The published number of time units. An optimizer that moves every weight by about the same amount, as Adam does, moves
# what a layer gives by that amount times the number of its inputs. So that a model with fewer time units learns as fast
# under the same learning rate, units that go into a layer are multiplied by what they are short of this number.
REFERENCE_TIME_UNITS = 64


def shortness(Time: Axis) -> float:
    """How many times fewer time units there are than published."""
    return REFERENCE_TIME_UNITS / Time.size


class TimeMlp(eqx.Module):
    """The small network in front of one generated layer: features -> time -> time, with SiLU between."""

    first: Linear
    second: Linear

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray) -> "TimeMlp":
        Hidden = config.TimeUnits.alias("time_hidden")
        k_first, k_second = jr.split(key)
        return TimeMlp(
            Linear.init(config.Features, Hidden, key=k_first),
            Linear.init(Hidden, config.TimeUnits, key=k_second, scale=1 / shortness(Hidden)),
        )

    def __call__(self, features: NamedArray) -> NamedArray:
        hidden = activate(self.first(features), "silu") * shortness(self.first.Out[0])
        return activate(self.second(hidden), "silu")


class GeneratedArray(eqx.Module):
    """`value(t) = base + shortness * time(t) @ projection`.

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
            spread = hax.std(start) / (0.36 * shortness(Time) * math.sqrt(Time.size))
            projection = hax.random.normal(key, projection.axes) * spread
        return GeneratedArray(projection, start if constant is None else None, constant or 0.0)

    def at(self, time: NamedArray) -> NamedArray:
        Time, *Out = self.projection.axes
        time = time * shortness(Time)
        return contract(time, self.projection, (Time,), Out) + (self.constant if self.base is None else self.base)


class Generated(TimeIndexed):
    """A layer all of whose arrays are functions of t."""

    network: TimeMlp | None  # features -> time; None when the model shares one network for all layers
    template: Any  # the layer with its arrays taken out
    arrays: dict[str, GeneratedArray]  # field name -> its generator

    @staticmethod
    def init(config: ModelConfig, layer: Any, *, key: PRNGKeyArray) -> "Generated":
        """Generate every array of `layer`, starting near the values it has."""
        starts = {
            each.name: getattr(layer, each.name)
            for each in dataclasses.fields(layer)
            if isinstance(getattr(layer, each.name), NamedArray)
        }
        k_network, *keys = jr.split(key, 1 + len(starts))
        arrays = {
            name: GeneratedArray.init(start, layer.constant_start.get(name), config.TimeUnits, key=each)
            for (name, start), each in zip(starts.items(), keys, strict=True)
        }
        network = TimeMlp.init(config, key=k_network) if config.time_network == "separate" else None
        return Generated(network, dataclasses.replace(layer, **dict.fromkeys(starts)), arrays)

    def at(self, time: NamedArray) -> Any:
        if self.network is not None:
            time = self.network(time)
        return dataclasses.replace(self.template, **{name: array.at(time) for name, array in self.arrays.items()})
