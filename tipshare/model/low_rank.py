"""Low-rank adapters (LoRA, Hu et al., 2021): `W + alpha/rank * A B` in place of `W`, for dense layers of a block.

They act on the plain block of a depth, after gates and generators have been evaluated, so every weight source is
adapted by the same lines, and what reads blocks (the forward pass, `freeze`, generation, analysis) reads adapted ones.

haliax and levanter have LoRA for `haliax.nn.Linear`, called in its place. Our dense layer carries gate vectors, may
have a depth axis, and generation and analysis read its weight; a sum of weights fits all of that, a second call none.
"""

import math
from collections.abc import Iterator
from typing import Any, Literal

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.model.block import Block
from tipshare.model.depth import legendre
from tipshare.model.layers import Linear

# How an adapter depends on depth: not at all; one for each depth step; or one whose ranks are scaled by s(t).
AlongDepth = Literal["shared", "per-depth", "time-indexed"]
# Degree of the polynomials of t that s(t) is made of.
DEGREE = 4


class LowRank(eqx.Module):
    """What is added to one weight at depth t: `scale * down @ diag(s(t)) @ up`.

    With `part`, there is a pair of matrices for each of n equal parts of (0, 1]; on a path of n depth steps that is one
    per depth step.
    """

    down: NamedArray  # (part) x In x rank
    up: NamedArray  # (part) x rank x Out; starts at zero, so that a new adapter changes nothing
    modulation: NamedArray | None  # polynomial x rank: s(t) = 1 + polynomials(t) @ modulation
    scale: float = eqx.field(static=True)

    @staticmethod
    def init(
        layer: Linear, rank: int, alpha: float, along_depth: AlongDepth, parts: int, *, key: PRNGKeyArray
    ) -> "LowRank":
        Part = (Axis("part", parts),) if along_depth == "per-depth" else ()
        Rank = Axis("rank", rank)
        spread = 1.0 / math.sqrt(math.prod(axis.size for axis in layer.In))
        return LowRank(
            down=hax.random.normal(key, (*Part, *layer.In, Rank)) * spread,
            up=hax.zeros((*Part, Rank, *layer.Out)),
            modulation=hax.zeros((Axis("polynomial", DEGREE), Rank)) if along_depth == "time-indexed" else None,
            scale=alpha / rank,
        )

    @property
    def is_shared(self) -> bool:
        """Whether the same is added at every depth."""
        return self.modulation is None and not self.down.has_axis("part")

    def at(self, t: NamedArray) -> NamedArray:
        """What is added at depth t, with the axes of t where it depends on it."""
        down, up = self.down, self.up
        if down.has_axis("part"):
            parts = down.axis_size("part")
            # The part that ends at t or after it; rounding must not push the end of a part into the next one.
            place = hax.ceil(t * parts - 1e-4).astype(jnp.int32) - 1
            place = hax.clip(place, 0, parts - 1)
            down, up = down.take("part", place), up.take("part", place)
        if self.modulation is not None:
            polynomials = hax.concatenate(
                "polynomial", [each.rename({"features": "polynomial"}) for each in legendre(t, DEGREE)]
            )
            scales = 1.0 + hax.dot(polynomials.astype(down.dtype), self.modulation, axis="polynomial")
            down = down.broadcast_axis([axis for axis in scales.axes if axis not in down.axes]) * scales
        return hax.dot(down, up, axis="rank") * self.scale


class Adapters(eqx.Module):
    """The adapters of a model, in nested dictionaries by the names of the layers, such as `attention` and `qkv`."""

    layers: dict[str, Any]

    def items(self) -> Iterator[tuple[str, LowRank]]:
        """The dotted name of every adapted layer, and its adapter."""
        leaves, _ = jax.tree_util.tree_flatten_with_path(self.layers, is_leaf=lambda node: isinstance(node, LowRank))
        return ((".".join(key.key for key in path), adapter) for path, adapter in leaves)

    def on(self, block: Block, t: NamedArray) -> Block:
        """A block of plain layers, at one depth or along a path, with the adapters added to its weights."""
        for name, adapter in self.items():
            layer = layer_at(block, name)
            block = eqx.tree_at(lambda tree, name=name: layer_at(tree, name), block, add_to(layer, adapter.at(t)))
        return block


def layer_at(tree: Any, name: str) -> Any:
    """The layer with a dotted name; None if there is none."""
    for part in name.split("."):
        tree = getattr(tree, part, None)
    return tree


def add_to(layer: Linear, delta: NamedArray) -> Linear:
    """A dense layer with something added to its weight; what differs along depth gives it a weight for every depth."""
    missing = [axis for axis in delta.axes if axis not in layer.weight.axes]
    weight = layer.weight.broadcast_axis(missing)
    return eqx.tree_at(lambda each: each.weight, layer, weight + delta.astype(weight.dtype))


def dense_layers(block: Block) -> dict[str, Linear]:
    """The dense layers of a block of plain layers (or of its shapes), by dotted name."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(block, is_leaf=lambda node: isinstance(node, Linear))
    return {".".join(key.name for key in path): leaf for path, leaf in leaves if isinstance(leaf, Linear)}


def make_adapters(
    layers: dict[str, Linear],
    rank: int,
    alpha: float,
    along_depth: AlongDepth,
    parts: int,
    *,
    key: PRNGKeyArray,
) -> Adapters:
    """New adapters for some layers, by their dotted names; they change nothing before training."""
    nested: dict[str, Any] = {}
    for (name, layer), each in zip(layers.items(), jr.split(key, len(layers)), strict=True):
        *groups, last = name.split(".")
        place = nested
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = LowRank.init(layer, rank, alpha, along_depth, parts, key=each)
    return Adapters(nested)
