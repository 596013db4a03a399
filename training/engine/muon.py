"""Which weights Muon moves, and as which matrices (Jordan, 2024; `optax.contrib.muon`).

Muon replaces the update of a matrix by the nearest one whose rows or columns are orthogonal, so it needs to know what
is a matrix. Here it moves the dense weights of the blocks: queries, keys and values each by itself, and each layer by
itself where layers are stacked along depth; of weights that are generated, the part that does not depend on t.
Everything else (embedding, head, norms, biases, gates, hypernetworks) is moved by AdamW.
"""

import dataclasses
from typing import Any

import jax
from haliax import Axis, NamedArray
from optax.contrib import MuonDimensionNumbers

from tipshare.model.language_model import LanguageModel
from tipshare.model.layers import Linear
from tipshare.model.ssm import StepSize
from tipshare.model.weights.gated import Gate
from tipshare.model.weights.generated import Generated, GeneratedArray, TimeMlp

# Axes that count matrices instead of spanning them.
STACKED = ("depth", "qkv")


def muon_dimensions(model: LanguageModel) -> tuple[Any, Any]:
    """Two trees like `model`: for each named array its `MuonDimensionNumbers`, or None where AdamW moves it; and for
    each array "muon" or "adam".
    """

    def dimensions_of(node: Any) -> Any:
        nothing = jax.tree.map(lambda _: None, node, is_leaf=_is_named)
        if isinstance(node, Linear) and node.weight is not None:
            return dataclasses.replace(nothing, weight=_matrix(node.weight, node.In))
        if isinstance(node, StepSize) and node.weight is not None:
            return dataclasses.replace(nothing, weight=_matrix(node.weight, node.weight.axes[-2:-1]))
        if isinstance(node, Generated) and isinstance(node.template, Linear):
            base = node.arrays["weight"].base
            if base is not None:
                weight = dataclasses.replace(nothing.arrays["weight"], base=_matrix(base, node.template.In))
                return dataclasses.replace(nothing, arrays={**nothing.arrays, "weight": weight})
        return nothing

    def is_part(node: Any) -> bool:
        return isinstance(node, Linear | StepSize | Gate | Generated | GeneratedArray | TimeMlp) or _is_named(node)

    outside = jax.tree.map(lambda _: None, dataclasses.replace(model, block=None), is_leaf=_is_named)
    dimensions = dataclasses.replace(outside, block=jax.tree.map(dimensions_of, model.block, is_leaf=is_part))
    labels = jax.tree.map(
        lambda each, arrays: jax.tree.map(lambda _: "adam" if each is None else "muon", arrays),
        dimensions,
        model,
        is_leaf=lambda node: node is None or isinstance(node, MuonDimensionNumbers),
    )
    return dimensions, labels


def _matrix(weight: NamedArray, In: tuple[Axis, ...]) -> MuonDimensionNumbers:
    names = [axis.name for axis in weight.axes]
    inputs = [axis.name for axis in In]
    outputs = [name for name in names if name not in inputs and name not in STACKED]
    return MuonDimensionNumbers(tuple(map(names.index, inputs)), tuple(map(names.index, outputs)))


def _is_named(node: Any) -> bool:
    return isinstance(node, NamedArray)
