"""A frozen model with a block of its own for every depth step: what generation multiplies with."""

import weakref
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from haliax import NamedArray
from haliax.util import is_named_array
from jaxtyping import Array

from tipshare.generation.sampling import MOST_BYTES
from tipshare.model.block import Block
from tipshare.model.depth import at_place, depths, places_read
from tipshare.model.language_model import LanguageModel
from tipshare.model.layers import LayerNorm, Linear
from tipshare.model.positions import AngleTables
from tipshare.text.tokenizer import Tokenizer

Tree = TypeVar("Tree")


@jax.tree_util.register_pytree_node_class
@dataclass(frozen=True)
class Flat(Generic[Tree]):
    """A tree of arrays that was taken apart once.

    JAX takes the arguments of a compiled function apart at every call. For a hundred modules and named arrays it does
    so in Python, in a tenth of the time that a chunk of bytes takes to write.
    """

    leaves: tuple[Array, ...]
    structure: Any  # the same object at every call, so that JAX need not compare what is in it

    @staticmethod
    def of(tree: Tree) -> "Flat[Tree]":
        leaves, structure = jax.tree.flatten(tree)
        return Flat(tuple(leaves), structure)

    @cached_property
    def tree(self) -> Tree:
        return jax.tree.unflatten(self.structure, self.leaves)

    def filled_with(self, tree: Tree) -> "Flat[Tree]":
        """Another tree of the same structure."""
        return Flat(tuple(jax.tree.leaves(tree)), self.structure)

    def tree_flatten(self) -> tuple[tuple[Array, ...], Any]:
        return self.leaves, self.structure

    @classmethod
    def tree_unflatten(cls, structure: Any, leaves: Any) -> "Flat[Tree]":
        return cls(leaves, structure)


class Unrolled(eqx.Module):
    """All weights of one pass, float32.

    The blocks are separate arrays and no stack, out of which every byte would copy them. The matrices of the kinds
    that share a block are one array that every depth step points at; only gate vectors and norms differ, so that the
    shared block stays in the processor's cache while it is used at every depth.
    """

    embedding: NamedArray  # vocab x embed
    positions: NamedArray | None  # position x embed
    angles: AngleTables | None  # when positions are rotary
    blocks: tuple[Flat[Block], ...]  # of plain layers, one per evaluation: one per depth step, unless a solver has more
    final_norm: LayerNorm
    head: Linear
    step_size: float = eqx.field(static=True)
    solver: str = eqx.field(static=True)
    context: int = eqx.field(static=True)
    tokenizer: Tokenizer = eqx.field(static=True)


# Those that were used last: a model of generated weights takes as much memory for every depth step of every number. To
# unroll one again runs one small compiled program.
MOST_UNROLLED = 8
_unrolled: dict[tuple[int, int, str], tuple[weakref.ref, Unrolled]] = {}


def unroll(model: LanguageModel, steps: int | None = None, solver: str | None = None) -> Unrolled:
    """Freeze `model` at a number of depth steps and unroll it; kept for the next call."""
    config, tokenizer = model.config, model.tokenizer
    steps = model._check_steps(steps)
    solver = model.solver if solver is None else solver
    key = (id(model), steps, solver)
    known = _unrolled.pop(key, None)
    if known is not None and known[0]() is model:
        _unrolled[key] = known
        return known[1]
    shared, per_depth, rest = _split(model, steps, solver)
    longest = config.max_position_embeddings + MOST_BYTES
    unrolled = Unrolled(
        **rest,
        angles=AngleTables.init(config.HeadSize, longest) if config.positions == "rotary" else None,
        blocks=tuple(
            Flat.of(eqx.combine(per_depth[place], shared, is_leaf=is_named_array))
            for place in places_read(steps, solver).flat
        ),
        step_size=model.step_size(steps),
        solver=solver,
        context=config.max_position_embeddings,
        tokenizer=tokenizer,
    )
    _unrolled[key] = (weakref.ref(model, lambda _: _unrolled.pop(key, None)), unrolled)
    for oldest in list(_unrolled)[:-MOST_UNROLLED]:
        _unrolled.pop(oldest, None)
    return unrolled


@partial(jax.jit, static_argnames=("steps", "solver"))
def _split(model: LanguageModel, steps: int, solver: str) -> tuple[Block, tuple[Block, ...], dict[str, Any]]:
    """A block of the arrays that all depths share, blocks of those that differ, and the parts outside."""
    frozen = model.freeze(steps, solver=solver).astype(jnp.float32)
    own, shared = eqx.partition(frozen.block, lambda leaf: leaf.has_axis("depth"), is_leaf=is_named_array)
    head, size = frozen.head, model.tokenizer.size
    rest = {
        "embedding": frozen.embedding["vocab", :size],
        "positions": frozen.positions,
        "final_norm": frozen.final_norm,
        "head": Linear(head.weight["vocab", :size], None, In=head.In, Out=(head.Out[0].resize(size),)),
    }
    return shared, tuple(at_place(own, place) for place in range(len(depths(steps, solver)))), rest
