"""What a model costs: parameters by part, operations per token, memory, time per step."""

import dataclasses
import functools
import itertools
import math
import resource
from collections.abc import Sequence

import equinox as eqx
import jax
import numpy as np
from haliax import NamedArray
from jax.extend.core import jaxpr_as_fun
from jax.stages import Compiled
from jaxtyping import Array

from tipshare.config import ModelConfig
from tipshare.model.language_model import LanguageModel
from tipshare.model.parameters import count_parameters
from training.engine.optimizer import is_matrix
from training.engine.step import Arrays
from training.recipes.recipe import Recipe

# A backward pass multiplies every matrix twice, for its inputs and for itself.
TRAINING_TO_FORWARD = 3


def parameters_by_part(model: LanguageModel | ModelConfig) -> dict[str, int]:
    """Stored parameters by part, their `total`, and `effective`: those of the frozen model."""
    counts = count_parameters(model)
    parts = {name: int(value) for name, value in dataclasses.asdict(counts).items() if value or name != "adapters"}
    return {**parts, "total": int(counts.total), "effective": int(count_parameters(model, frozen=True).total)}


def formula_flops_per_token(config: ModelConfig, length: int) -> float:
    """Multiplications and additions of the matrix products in a forward pass, per token.

    Two per matrix entry at each depth step, and four per unit and visible position for attention's two products. The
    cost of generating weights by a hypernetwork is shared by all tokens and left out.
    """
    frozen = eqx.filter_eval_shape(lambda: config.build(key=jax.random.key(0)).freeze())
    return 2.0 * (_matrix_entries(frozen) + frozen.head.weight.size) + 4.0 * config.steps * length * config.hidden_dim


def _matrix_entries(frozen: LanguageModel) -> int:
    """Matrix entries that a token is multiplied with in the blocks; a shared matrix counts once per depth step."""

    def is_named(node: object) -> bool:
        return isinstance(node, NamedArray)

    arrays = jax.tree.leaves(frozen.block, is_leaf=is_named)
    matrices = itertools.compress(arrays, jax.tree.leaves(is_matrix(frozen.block)))
    return frozen.steps * sum(math.prod(axis.size for axis in each.axes if axis.name != "depth") for each in matrices)


@functools.lru_cache
def measured_flops_per_token(config: ModelConfig, batch_size: int, length: int) -> dict[str, float]:
    """Floating-point operations of a forward pass and of a training step, per token, from XLA's cost analysis.

    XLA counts the body of a loop once, so the model is traced with its loops unrolled.
    """
    shapes = eqx.filter_eval_shape(config.build, key=jax.random.key(0))
    parameters, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    tokens = jax.ShapeDtypeStruct((batch_size, length), np.int32)

    def loss(parameters: Arrays, tokens: Array) -> Array:
        return eqx.combine(parameters, static).compute_loss(tokens, tokens)

    counts = {}
    for name, function in (("forward", loss), ("training", jax.value_and_grad(loss))):
        with jax.disable_jit():
            unrolled = jax.make_jaxpr(function)(parameters, tokens)
        lowered = jax.jit(jaxpr_as_fun(unrolled)).lower(*jax.tree.leaves(parameters), tokens)
        counts[name] = float((lowered.cost_analysis() or {}).get("flops", 0.0)) / (batch_size * length)
    return counts


def flops_per_token(config: ModelConfig, batch_size: int, length: int) -> dict[str, float]:
    """Both counts, by formula and by XLA, for a record."""
    formula = formula_flops_per_token(config, length)
    measured = measured_flops_per_token(config, batch_size, length)
    return {
        "forward_per_token": measured["forward"],
        "training_per_token": measured["training"],
        "forward_per_token_formula": formula,
        "training_per_token_formula": TRAINING_TO_FORWARD * formula,
    }


def memory_in_use(compiled: Compiled) -> dict[str, float]:
    """Bytes that the compiled step allocates, and the peak of the process and, where it is known, of the device."""
    # Linux counts in units of 1,024 bytes.
    memory = {"peak_process_bytes": 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}
    analysis = compiled.memory_analysis()
    if analysis is not None:
        memory["step_temporary_bytes"] = float(analysis.temp_size_in_bytes)
        memory["step_argument_bytes"] = float(analysis.argument_size_in_bytes)
    device = jax.local_devices()[0].memory_stats() or {}
    if "peak_bytes_in_use" in device:
        memory["peak_device_bytes"] = float(device["peak_bytes_in_use"])
    return memory


def speed_of(step_seconds: Sequence[float], compile_seconds: float, recipe: Recipe) -> dict[str, float]:
    """Median step time with its spread (half the distance between the quartiles), in milliseconds, and tokens/s."""
    speed = {"compile_seconds": compile_seconds}
    if step_seconds:
        low, median, high = np.quantile(step_seconds, [0.25, 0.5, 0.75])
        speed |= {
            "step_ms": 1e3 * float(median),
            "step_ms_spread": 1e3 * float(high - low) / 2,
            "tokens_per_second": recipe.tokens_per_step / float(median),
        }
    return speed
