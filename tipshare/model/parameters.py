"""How many numbers a model stores, and what for."""

import dataclasses
import functools
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.random as jr
from haliax import NamedArray

from tipshare.config import ModelConfig
from tipshare.model.depth import TimeIndexed
from tipshare.model.language_model import LanguageModel
from tipshare.model.weights.gated import Gate


@dataclass(frozen=True)
class ParameterCounts:
    """Stored parameters by part.

    Attributes:
        embedding: Token embedding, and learned positions if there are any.
        block: Weights of the blocks: one shared block, or one per layer.
        gates: Networks of the gates, and the time network that all of them share.
        generators: Hypernetworks that write weights or norms from t.
        head: The final norm and the projection to the vocabulary.
        adapters: What was added to the weights of the blocks by fine-tuning.
    """

    embedding: int
    block: int
    gates: int
    generators: int
    head: int
    adapters: int = 0

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    @property
    def parts(self) -> dict[str, int]:
        """The parts that are not empty, by name."""
        return {name: count for name, count in dataclasses.asdict(self).items() if count}

    def __str__(self) -> str:
        shown = ", ".join(f"{part} {count:,}" for part, count in self.parts.items())
        return f"{self.total:,} parameters ({shown})"


def count_parameters(model: LanguageModel | ModelConfig, *, frozen: bool = False) -> ParameterCounts:
    """Stored parameters of a model, or of the model that a config would build (no memory is taken for it).

    Args:
        frozen: Count what one pass reads instead: the weights of all depth steps, without the networks behind them.
    """
    if isinstance(model, ModelConfig):
        return _count_of_config(model, frozen)
    if frozen:
        return count_parameters(eqx.filter_eval_shape(LanguageModel.freeze, model))
    gates, generators = _gates(model.block), _generators(model.block)
    final_generator = _generators(model.final_norm)
    return ParameterCounts(
        embedding=_size((model.embedding, model.positions)),
        block=_size(model.block) - gates - generators,
        gates=gates + _size(model.time),
        generators=generators + final_generator,
        head=_size((model.final_norm, model.head)) - final_generator,
        adapters=_size(model.adapters),
    )


@functools.lru_cache
def _count_of_config(config: ModelConfig, frozen: bool) -> ParameterCounts:
    """Kept, because finding the shapes of all arrays takes a tenth of a second."""
    return count_parameters(eqx.filter_eval_shape(config.build, key=jr.key(0)), frozen=frozen)


def describe(model: LanguageModel) -> str:
    """A model in text: sizes, parameters by part, and the axes, type and size of every array."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(model, is_leaf=lambda node: isinstance(node, NamedArray))
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in leaves]
    axes = [", ".join(f"{axis.name} {axis.size}" for axis in array.axes) for _, array in leaves]
    widths = max(map(len, names)), max(map(len, axes))
    lines = [
        f"{name:{widths[0]}}  {shape:{widths[1]}}  {array.array.size:>12,}  {array.dtype}"
        for name, shape, (_, array) in zip(names, axes, leaves, strict=True)
    ]
    return "\n".join([repr(model), str(count_parameters(model)), *lines])


def _size(tree: object) -> int:
    """Entries of all arrays in a tree."""
    return sum(leaf.size for leaf in jax.tree.leaves(tree) if hasattr(leaf, "size"))


def _gates(tree: object) -> int:
    return sum(_size(node) for node in _nodes(tree, Gate))


def _generators(tree: object) -> int:
    """Entries of what reads t in time-indexed layers: neither gates nor weights that all depths share."""
    return sum(
        _size(node) - _gates(node) - _size([getattr(node, name) for name in node.shared_fields])
        for node in _nodes(tree, TimeIndexed)
    )


def _nodes(tree: object, part: type) -> list:
    """The nodes of one class in a tree."""
    nodes = jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, part))
    return [node for node in nodes if isinstance(node, part)]
