"""One number per unit and depth: the value of its gate, or the norm of the weights that a gate would act on."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from haliax import NamedArray
from jaxtyping import Array

from tipshare.analysis.texts import finite
from tipshare.analysis.weights import along_depth
from tipshare.config import ModelConfig
from tipshare.model.block import Block, gate_values
from tipshare.model.depth import check_depth, depths, turns_of_time
from tipshare.model.language_model import LanguageModel
from tipshare.model.parameters import count_parameters

# Points of a curve over t besides the depths of training: at least LEAST_POINTS, and POINTS_PER_TURN in every period of
# the fastest feature of t, so that the curve shows what the model does and not an alias of it.
LEAST_POINTS = 50
POINTS_PER_TURN = 6
# Points whose blocks are computed at once, and entries of generated weights that they may hold in memory.
AT_ONCE = 50
MOST_ENTRIES = 500_000_000


@dataclass(frozen=True)
class UnitValues:
    """What the units of a model's gated layers do along depth.

    Attributes:
        t: Depths, in increasing order.
        values: By name (`attention_in`, `attention_out`, `up`, `down`, or `A` ... `delta`): {depth, unit}.
        are_gates: Whether these are gates. Otherwise they are norms of each unit's weights, relative to their mean over
            the trained depth steps.
        unchanged: The value that means no change: that of gates before training; 1 for norms.
    """

    t: np.ndarray
    values: dict[str, np.ndarray]
    are_gates: bool
    unchanged: float

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def of(self, name: str) -> np.ndarray:
        """{depth, unit} of one name."""
        if name not in self.values:
            raise ValueError(f"this model has no {name!r}; it has {', '.join(self.values)}")
        return self.values[name]

    def change(self, name: str) -> np.ndarray:
        """How far the units move from each depth to the next: mean absolute difference, {depth - 1}."""
        return np.abs(np.diff(self.of(name), axis=0)).mean(axis=1)


def unit_values(model: LanguageModel, steps: int | None = None) -> UnitValues:
    """Gate values at every depth step; for models that do not keep every gate apart, the norms of each unit's weights.

    sigmoid(g_u(t)) of unit u, or |W_u(t)| / mean over t of |W_u(t)|. Cost: the weights of every depth step.

    Example:
        print(unit_values(model).names)
    """
    steps = model._check_steps(steps)
    return _as_units(model, depths(steps), _along_depth(model, steps))


def continuous_units(model: LanguageModel) -> UnitValues:
    """The same as a curve over t in (0, 1], fine enough for the fastest feature of t: at 0.02, 0.04, ..., 1, between
    these as often as it takes, and at the depths of the model's depth steps.

    Only at the trained depths for kinds with weights per layer, and for models too large to generate so many blocks.
    Cost: the weights of every point, AT_ONCE of them in memory at a time.

    Example:
        print(len(continuous_units(model).t))
    """
    trained = unit_values(model)
    if not _is_curve(model):
        return trained
    between = math.ceil(turns_of_time(model.config) * POINTS_PER_TURN / LEAST_POINTS) or 1
    t = depths(LEAST_POINTS * between)
    t = np.sort(np.concatenate([t, trained.t[~np.isclose(trained.t[:, None], t).any(axis=1)]]))
    parts = [_at_depths(model, t[start : start + AT_ONCE]) for start in range(0, len(t), AT_ONCE)]
    joined = jax.tree.map(lambda *each: np.concatenate(each), *parts)
    return _as_units(model, t, joined)


def units_at(model: LanguageModel, t: float) -> UnitValues:
    """The same at one depth; kinds with weights per layer give those of the layer nearest to t. Cost: one block.

    Example:
        print(units_at(model, 0.5).values.keys())
    """
    t = check_depth(t)
    if not model.config.is_continuous or model.is_frozen:
        t = max(1, round(t * model.steps)) / model.steps
    return _as_units(model, np.array([t]), _of_block(model.at(t), 1))


def start_of_gates(config: ModelConfig) -> float:
    """The value of every gate before training, up to its small random part."""
    if config.gate == "linear":
        return 1.0
    return 1.0 / (1.0 + math.exp(-config.gate_start)) * (2.0 if config.gate == "two-sigmoid" else 1.0)


def _at_depths(model: LanguageModel, t: np.ndarray) -> "_Arrays":
    """At up to AT_ONCE depths; the last one is repeated to make the number whole, so that one program fits all."""
    filled = np.pad(t, (0, AT_ONCE - len(t)), mode="edge").astype(np.float32)
    return jax.tree.map(lambda each: np.asarray(each)[: len(t)], _of_depths(model, filled))


class _Arrays(NamedTuple):
    """{step, unit} by name: the gates, or else the norms of weights."""

    gates: dict[str, Array]
    norms: dict[str, Array]


# Compiled as one: operation by operation there would be a compilation for every shape of every weight.
@eqx.filter_jit
def _along_depth(model: LanguageModel, steps: int) -> _Arrays:
    return _of_block(model.blocks(steps), steps)


@eqx.filter_jit
def _of_depths(model: LanguageModel, t: np.ndarray) -> _Arrays:
    return _of_block(model.blocks_at(hax.named(jnp.asarray(t), "depth")), AT_ONCE)


def _of_block(block: Block, steps: int) -> _Arrays:
    gates = {name: _spread(gate, steps) for name, gate in gate_values(block).items()}
    # A source that multiplies some gates into its weights is shown by the norms of all of them.
    has_all_gates = len(gates) == len(block.attention.gated) + len(block.mixer.gated)
    return _Arrays(gates, {}) if has_all_gates else _Arrays({}, _norms(block, steps))


def _norms(block: Block, steps: int) -> dict[str, Array]:
    """The Euclidean norm of the weights of every unit that a gate would act on."""
    norms = {}
    for part in (block.attention, block.mixer):
        for name, place in part.gated.items():
            layer = getattr(part, place.slot)
            Units = [axis for axis in layer.scale_axes(place.field) if axis.name != "depth"]
            weight = layer.effective_weight
            others = tuple(axis for axis in weight.axes if axis not in Units and axis.name != "depth")
            norms[name] = _spread(hax.sqrt(hax.sum(weight * weight, others)) if others else abs(weight), steps)
    return norms


def _spread(values: NamedArray, steps: int) -> Array:
    rows = along_depth(values)
    return jnp.broadcast_to(rows, (steps, rows.shape[1]))


def _as_units(model: LanguageModel, t: np.ndarray, arrays: _Arrays) -> UnitValues:
    # Compiled functions return dictionaries sorted by key.
    names = [name for part in (model.block.attention, model.block.mixer) for name in part.gated]
    if arrays.gates:
        values = {name: finite(f"gates of {name}", np.asarray(arrays.gates[name])) for name in names}
        return UnitValues(t, values, True, start_of_gates(model.config))
    # A unit whose weights are all zero counts as unchanged, at 1.
    own = _along_depth(model, model.steps).norms
    values = {}
    for name in names:
        norm, mean = finite(f"weights of {name}", np.asarray(arrays.norms[name])), np.asarray(own[name]).mean(axis=0)
        values[name] = np.divide(norm, mean, out=np.ones_like(norm), where=mean > 0)
    return UnitValues(t, values, False, 1.0)


def _is_curve(model: LanguageModel) -> bool:
    config = model.config
    if not config.is_continuous or model.is_frozen:
        return False
    # Generated blocks of several points lie in memory at once.
    return config.weights != "generated" or AT_ONCE * count_parameters(config, frozen=True).block < MOST_ENTRIES
