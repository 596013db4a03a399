"""Names of the tensors in a file: the way from the model to the array, such as `block.attention.qkv.weight`.

Attributes and keys are joined by dots, and the axes of a tensor are stored in the order the layer declares them:

    embedding                              vocab, embed
    positions                              position, embed          (learned positions only)
    time.network.weight / .bias            features, time           (the network that all gates share)
    block.<part>.<layer>.weight            inputs, outputs          (a `depth` axis comes first in `standard`)
    block.<part>.<layer>.layer.weight      a gated layer: the weight that all depths share
    block.<part>.<layer>.gate.linear.*     its gate: time, units
    block.<part>.<layer>.arrays.<field>.projection / .base   a generated layer: time, then the field's axes
    block.<part>.<layer>.network.*         the network of its own, if the layer has one
    final_norm.weight / .bias              embed
    head.weight                            embed, vocab

`<part>` is `attention` or `mixer` (and the norms `attention_norm` and `mixer_norm`).
"""

from typing import Any

import jax
from jax.tree_util import DictKey, FlattenedIndexKey, GetAttrKey


def name_tensors(model: Any) -> dict[str, Any]:
    """All arrays of a model (or their shapes) by name, in the order of its fields."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(model)
    named = {tensor_name(path): leaf for path, leaf in leaves}
    if len(named) != len(leaves):
        raise ValueError("two arrays of this model have the same name: rename a field or a key")
    return named


def tensor_name(path: tuple[Any, ...]) -> str:
    """The dotted name of a path through a tree; the index of the one array inside a named array is left out."""
    return ".".join(_part_name(part) for part in path if not isinstance(part, FlattenedIndexKey))


def _part_name(part: Any) -> str:
    if isinstance(part, GetAttrKey):
        return part.name
    if isinstance(part, DictKey) and isinstance(part.key, str) and "." not in part.key:
        return part.key
    raise ValueError(f"{part} has no stable name: checkpoints hold modules and dictionaries of arrays only")
