"""One number per unit and depth: the value of a gate, or the length of the weights it would act on."""

from dataclasses import dataclass

import equinox as eqx
import haliax as hax
import jax.nn
import numpy as np
from haliax import NamedArray

from tipshare.analysis.weights import along_depth
from tipshare.block import Block, gate_values
from tipshare.compilation import use_compilation_cache
from tipshare.config import ModelConfig
from tipshare.model import LanguageModel

# Curves over t have about this many points.
CURVE_POINTS = 60
# The same where a whole block must be generated for every point.
GENERATED_POINTS = 18


@dataclass(frozen=True)
class UnitValues:
    """What every unit of a model's gated places does along depth.

    Attributes:
        t: Depths, growing.
        values: By name (`attention_in`, `attention_out`, `up`, `down`, or `A` ... `delta`): {depth, unit}.
        are_gates: Whether these are gates. Otherwise they are lengths of each unit's weights, relative to the mean over
            the model's own depth steps.
        unchanged: The value that means no change: what gates had before training; 1 for lengths.
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
    """Gate values at every depth step; for models without gates, the lengths of each unit's weights.

    Args:
        steps: Depth steps, for the kinds whose weights are defined at every t; the trained number if None.
    """
    use_compilation_cache()
    steps = model.steps if steps is None else steps
    blocks = model.blocks(steps)
    t = (np.arange(steps) + 1) / steps
    gates = gate_values(blocks)
    if gates:
        values = {
            name: np.broadcast_to(along_depth(gate, steps), (steps, gate_size(gate))) for name, gate in gates.items()
        }
        return UnitValues(t, values, True, start_of_gates(model.config))
    lengths = _lengths(blocks, steps)
    return UnitValues(t, _relative(lengths, lengths if steps == model.steps else _own_lengths(model)), False, 1.0)


def continuous_gates(model: LanguageModel) -> UnitValues:
    """The same as a curve over t in (0, 1], for the kinds whose weights are defined at every t.

    Every depth the model was trained at is one of the points. Kinds with weights per layer have these alone.
    """
    use_compilation_cache()
    if not model.config.is_continuous or model.is_frozen:
        return unit_values(model)
    if model.config.weights != "generated":
        return _gates_on_grid(model, model.steps * -(-CURVE_POINTS // model.steps))
    # One block at a time: generated weights of all points at once would be many times the model.
    steps = model.steps * -(-GENERATED_POINTS // model.steps)
    t = (np.arange(steps) + 1) / steps
    each = [_lengths(model.at(depth), 1) for depth in t]
    lengths = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
    trained = {name: length[steps // model.steps - 1 :: steps // model.steps] for name, length in lengths.items()}
    return UnitValues(t, _relative(lengths, trained), False, 1.0)


def gates_at(model: LanguageModel, t: float) -> UnitValues:
    """The same at one depth; kinds with weights per layer give those of the layer nearest to t."""
    if not 0.0 < t <= 1.0:
        raise ValueError(f"t={t} is not a depth: t lies in (0, 1]")
    if not model.config.is_continuous or model.is_frozen:
        t = max(1, round(t * model.steps)) / model.steps
    use_compilation_cache()
    block = model.at(t)
    gates = gate_values(block)
    depth = np.array([t])
    if gates:
        return UnitValues(
            depth, {name: along_depth(gate, 1) for name, gate in gates.items()}, True, start_of_gates(model.config)
        )
    return UnitValues(depth, _relative(_lengths(block, 1), _own_lengths(model)), False, 1.0)


def start_of_gates(config: ModelConfig) -> float:
    """The value of every gate before training, up to its small random part."""
    if config.gate == "linear":
        return 1.0
    return float(jax.nn.sigmoid(config.gate_start)) * (2.0 if config.gate == "two-sigmoid" else 1.0)


def gate_size(gate: NamedArray) -> int:
    """How many units a gate has."""
    return int(np.prod([axis.size for axis in gate.axes if axis.name != "depth"]))


def _gates_on_grid(model: LanguageModel, steps: int) -> UnitValues:
    if model.config.weights == "tied":
        # Nothing depends on t: the depths of the model itself say it all.
        return unit_values(model)
    values = {name: along_depth(gate, steps) for name, gate in _compiled_gates(model, steps).items()}
    return UnitValues((np.arange(steps) + 1) / steps, values, True, start_of_gates(model.config))


@eqx.filter_jit
def _compiled_gates(model: LanguageModel, steps: int) -> dict[str, NamedArray]:
    return gate_values(model.blocks(steps))


def _lengths(block: Block, steps: int) -> dict[str, np.ndarray]:
    """The Euclidean length of the weights of every unit that a gate would act on, {step, unit}."""
    lengths = {}
    for part in (block.attention, block.mixer):
        for name, place in part.gated.items():
            layer = getattr(part, place.slot)
            Units = [axis for axis in layer.scale_axes(place.field) if axis.name != "depth"]
            weight = layer.effective_weight
            others = tuple(axis for axis in weight.axes if axis not in Units and axis.name != "depth")
            length = hax.sqrt(hax.sum(weight * weight, others)) if others else abs(weight)
            size = int(np.prod([axis.size for axis in Units]))
            lengths[name] = np.broadcast_to(along_depth(length, steps), (steps, size))
    return lengths


def _own_lengths(model: LanguageModel) -> dict[str, np.ndarray]:
    return _lengths(model.blocks(), model.steps)


def _relative(lengths: dict[str, np.ndarray], reference: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Lengths over each unit's mean length along a reference; a unit without weights stays unchanged, at 1."""
    relative = {}
    for name, length in lengths.items():
        mean = reference[name].mean(axis=0)
        relative[name] = np.divide(length, mean, out=np.ones_like(length), where=mean > 0)
    return relative
