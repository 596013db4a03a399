"""Put adapters on a model, and make them part of its weights."""

import dataclasses
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, get_args

import equinox as eqx
from haliax import NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.model.depth import depth_grid
from tipshare.model.depth_change import to_layers
from tipshare.model.language_model import LanguageModel
from tipshare.model.layers import Linear
from tipshare.model.low_rank import AlongDepth, LowRank, add_to, dense_layers, layer_at, make_adapters
from tipshare.model.weights.gated import Gated
from tipshare.model.weights.generated import Generated
from tipshare.validation import check_number, check_whole

ALL_TARGETS = ("attention", "mixer")
LARGEST_RANK = 4096


def apply(
    model: LanguageModel,
    *,
    key: PRNGKeyArray,
    rank: int = 8,
    alpha: float | None = None,
    targets: Sequence[str] = ALL_TARGETS,
    along_depth: AlongDepth = "shared",
) -> LanguageModel:
    """The model with new adapters, which change nothing before they are trained; they are `model.adapters`.

    Args:
        rank: Rank of what is added to a weight, at most.
        alpha: What is added is multiplied by `alpha / rank`; `2 * rank` if None.
        targets: Names of dense layers: `attention`, `mixer`, `attention.qkv`, or a pattern such as `*.output`.
        along_depth: `shared`: the same addition at every depth; `per-depth`: one for each depth step; `time-indexed`:
            one whose ranks are scaled by polynomials of t.
    """
    if model.adapters is not None:
        raise ValueError("this model has adapters already: merge them first")
    alpha = 2.0 * rank if alpha is None else alpha
    check_settings(rank, alpha, along_depth)
    layers = find_targets(model, targets)
    made = make_adapters(layers, rank, alpha, along_depth, model.steps, key=key)
    return dataclasses.replace(model, adapters=made)


def check_settings(rank: Any, alpha: Any, along_depth: Any) -> None:
    """Raise ValueError unless these can be the settings of adapters."""
    check_whole("rank", rank, most=LARGEST_RANK)
    check_number("alpha", alpha, above=0.0, most=1e6)
    if along_depth not in get_args(AlongDepth):
        raise ValueError(f"along_depth={along_depth!r:.60} is not one of {', '.join(get_args(AlongDepth))}")


def settings_of(model: LanguageModel) -> dict[str, Any]:
    """The settings that gave a model its adapters: rank, alpha, full names of the targets, and along_depth."""
    if model.adapters is None:
        raise ValueError("this model has no adapters")
    adapters = dict(model.adapters.items())
    some = next(iter(adapters.values()))
    rank = some.down.axis_size("rank")
    along_depth = "per-depth" if some.down.has_axis("part") else "shared" if some.modulation is None else "time-indexed"
    return {"rank": rank, "alpha": some.scale * rank, "targets": tuple(adapters), "along_depth": along_depth}


def find_targets(model: LanguageModel, targets: Sequence[str]) -> dict[str, Linear]:
    """The dense layers (their shapes) that names or patterns stand for, by their full names."""
    layers = dense_layers(eqx.filter_eval_shape(LanguageModel.blocks, model))
    chosen: set[str] = set()
    for target in targets:
        found = {name for name in layers if fnmatchcase(name, target) or name.startswith(f"{target}.")}
        if not found:
            raise ValueError(
                f"target {target!r:.60} is not a dense layer of this {model.config.kind}; there are {', '.join(layers)}"
            )
        chosen |= found
    if not chosen:
        raise ValueError(f"no target is given; there are {', '.join(layers)}")
    return {name: layer for name, layer in layers.items() if name in chosen}


def merge(model: LanguageModel) -> LanguageModel:
    """The same function without adapters: they become part of the weights.

    Where they differ along depth, but the weights they are added to are shared by all depths, the result has weights
    of its own in every layer (`tipshare.model.depth_change.to_layers`).
    """
    if model.adapters is None:
        raise ValueError("this model has no adapters to merge")
    block = model.block
    for name, adapter in model.adapters.items():
        folded = _fold(layer_at(block, name), adapter, model)
        if folded is None:
            return to_layers(model)
        block = eqx.tree_at(lambda tree, name=name: layer_at(tree, name), block, folded)
    return dataclasses.replace(model, block=block, adapters=None)


def _fold(layer: Any, adapter: LowRank, model: LanguageModel) -> Any:
    """A layer, live or plain, with what an adapter adds in its stored weights; None if these cannot hold it."""

    def added(stored: NamedArray) -> NamedArray | None:
        if not (adapter.is_shared or stored.has_axis("depth") or model.is_frozen):
            return None
        return adapter.at(depth_grid(model.steps, model.solver))

    if isinstance(layer, Linear):
        delta = added(layer.weight)
        return None if delta is None else add_to(layer, delta)
    if isinstance(layer, Gated) and isinstance(layer.layer, Linear):
        inner = _fold(layer.layer, adapter, model)
        return None if inner is None else dataclasses.replace(layer, layer=inner)
    if isinstance(layer, Generated) and layer.arrays["weight"].base is not None:
        base = layer.arrays["weight"].base
        delta = added(base)
        return None if delta is None else eqx.tree_at(lambda each: each.arrays["weight"].base, layer, base + delta)
    return None
