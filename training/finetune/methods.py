"""Which arrays of a model each method of fine-tuning trains."""

from typing import Any, Literal

import equinox as eqx
import jax
from haliax import NamedArray

from tipshare.model.language_model import LanguageModel
from tipshare.model.weights.gated import Gate
from tipshare.model.weights.generated import TimeMlp

# `full`: everything; `gates`: the gates, and the small networks of t that feed gates and generators; `norms`: the
# norms; `lora`: low-rank adapters.
Method = Literal["full", "gates", "norms", "lora"]


def trained_by(method: Method, model: LanguageModel) -> Any:
    """A tree like the arrays of a model, with True for every named array that a method trains.

    Args:
        model: The model, or its shapes; with adapters if these are to be trained.
    """

    def choose(tree: Any, chosen: bool) -> Any:
        return jax.tree.map(lambda _: chosen, tree, is_leaf=_is_named)

    nothing = choose(eqx.filter(model, _is_array), False)
    if method == "full":
        trained = choose(nothing, True)
    elif method == "lora":
        trained = _with(nothing, adapters=choose(nothing.adapters, True))
    elif method == "norms":
        block = _with(
            nothing.block,
            attention_norm=choose(nothing.block.attention_norm, True),
            mixer_norm=choose(nothing.block.mixer_norm, True),
        )
        trained = _with(nothing, block=block, final_norm=choose(nothing.final_norm, True))
    else:
        trained = jax.tree.map(lambda node: choose(node, _is_of_time(node)), nothing, is_leaf=_is_of_time)
        trained = _with(trained, time=choose(nothing.time, True))
    if not any(jax.tree.leaves(trained)):
        raise ValueError(
            f"{model.config.kind} with weights={model.config.weights!r} has no {method} to train: choose another method"
        )
    return trained


def _with(tree: Any, **changes: Any) -> Any:
    names = list(changes)
    return eqx.tree_at(
        lambda each: [getattr(each, name) for name in names],
        tree,
        [changes[name] for name in names],
        is_leaf=lambda node: node is None,
    )


def _is_named(node: Any) -> bool:
    return isinstance(node, NamedArray)


def _is_array(leaf: Any) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)


def _is_of_time(node: Any) -> bool:
    return isinstance(node, Gate | TimeMlp)
