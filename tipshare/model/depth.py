"""The one place that owns t: the depth grid, the features of t, and the scan over depth.

t is depth and runs through (0, 1]: with L depth steps it takes the values 1/L, 2/L, ..., 1. Places in the text are
called positions and never time.
"""

import abc
import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.layers import Linear, activate

Tree = TypeVar("Tree")


class TimeIndexed(eqx.Module):
    """A layer whose weights depend on t. `at(time)` gives the ordinary layer with the weights of that depth.

    `time` is what `TimeEmbedding` returns; if it has a `depth` axis, the weights that depend on t have one too.
    `shared_fields` names the fields that hold weights which all depths share, as opposed to what reads t.
    """

    shared_fields: ClassVar[tuple[str, ...]] = ()

    @abc.abstractmethod
    def at(self, time: NamedArray) -> Any: ...


def at(tree: Tree, time: NamedArray | None) -> Tree:
    """`tree` with every time-indexed layer in it replaced by the plain layer it is at `time`."""
    if time is None:
        return tree

    def is_time_indexed(node: Any) -> bool:
        return isinstance(node, TimeIndexed)

    return jax.tree.map(lambda node: node.at(time) if is_time_indexed(node) else node, tree, is_leaf=is_time_indexed)


def depth_grid(steps: int) -> NamedArray:
    """t = 1/steps, 2/steps, ..., 1 along the axis `depth`."""
    return (hax.arange(Axis("depth", steps)).astype(jnp.float32) + 1.0) / steps


class TimeEmbedding(eqx.Module):
    """Features of t: `[t, sin(1000 t w), cos(1000 t w)]`, and a small network on them if all layers share one.

    The frequencies w fall from 1 to almost 1/10000, as in the published models.
    """

    network: Linear | None  # features -> time; None when every layer has a network of its own
    Features: Axis = eqx.field(static=True)
    held_constant: bool = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray) -> "TimeEmbedding":
        shared = config.time_network == "shared"
        network = Linear.init(config.Features, config.TimeUnits, key=key) if shared else None
        return TimeEmbedding(network, config.Features, config.time == "constant")

    @property
    def Out(self) -> Axis:  # noqa: N802
        """The axis of what this embedding returns."""
        return self.Features if self.network is None else self.network.Out[0]

    def features(self, t: NamedArray) -> NamedArray:
        """Raw features of t, with t's axes and `features`."""
        if self.held_constant:
            t = t * 0.0
        count = (self.Features.size - 1) // 2
        frequencies = hax.named(
            jnp.exp(-math.log(10_000.0) * jnp.arange(count, dtype=jnp.float32) / count), Axis("features", count)
        )
        angles = (1000.0 * t).broadcast_axis(frequencies.axes[0]) * frequencies
        plain = t.broadcast_axis(Axis("features", 1))
        return hax.concatenate(self.Features, [plain, hax.sin(angles), hax.cos(angles)])

    def __call__(self, t: NamedArray) -> NamedArray:
        features = self.features(t)
        if self.network is None:
            return features
        features = features.astype(self.network.weight.dtype)
        return activate(self.network(features), "silu")


def run_depth(
    blocks: Callable[..., NamedArray],
    x: NamedArray,
    *,
    steps: int,
    step_size: float,
    key: PRNGKeyArray | None = None,
    keep_path: bool = False,
    recompute: bool = False,
    unroll: int = 1,
) -> tuple[NamedArray, NamedArray | None]:
    """`x = block(x, step_size)` once per depth step, as a scan, so that compile time does not grow with depth.

    Args:
        blocks: A block with concrete weights. Weights with a `depth` axis are read step by step, weights without one
            are the same at every depth and stay a single copy.
        step_size: What a block's output is multiplied with before it is added.
        key: Dropout key; `None` for evaluation.
        keep_path: Also return x after every depth step, along `depth`.
        recompute: Keep only x between blocks for the backward pass; otherwise the results of matrix products too.
        unroll: Depth steps that are compiled one after the other in each turn of the scan. Within a turn the backward
            pass finds arrays where the forward pass left them, not in a stack: with 6, a CPU trains about a tenth
            faster. Compile time grows with this number, and not with depth.
    """
    t = depth_grid(steps)
    keys = None if key is None else jr.split(key, steps)

    def one_step(x: NamedArray, block: Any, t: NamedArray, key: PRNGKeyArray | None = None):
        del t  # scanned along only so that a block with no weight of its own per depth still has a depth axis
        x = block(x, step_size, key=key)
        return x, (x if keep_path else None)

    # What lies between matrix products is cheaper to compute again than to carry through memory: with all of it kept,
    # a training step of `standard` needs 312 MB instead of 121 MB of temporary memory. Without a loop the compiler
    # finds that by itself, and the marks that `checkpoint` leaves in the code only cost time, about a tenth.
    if recompute or unroll < steps:
        policies = jax.checkpoint_policies
        policy = policies.nothing_saveable if recompute else policies.dots_saveable
        one_step = jax.checkpoint(one_step, policy=policy, prevent_cse=False)
    scan: Any = hax.scan(one_step, t.axes[0], unroll=min(unroll, steps))
    return scan(x, blocks, t) if keys is None else scan(x, blocks, t, keys)
