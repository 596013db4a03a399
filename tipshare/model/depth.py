"""The one place that owns t: the depth grid, the features of t, the solvers, and the scan over depth.

t is depth and runs through (0, 1]: with L depth steps it takes the values 1/L, 2/L, ..., 1. Places in the text are
called positions and never time.
"""

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import NUM_STEP_FEATURES, ModelConfig, TimeFeatures
from tipshare.model.layers import Linear, activate

Tree = TypeVar("Tree")

# Smooth features are sin and cos of pi k t, with k spread evenly on a logarithmic scale between these.
SLOWEST_WAVE, FASTEST_WAVE = 0.25, 4.0
# The published ones are sin and cos of this times t, and slower.
FASTEST_PUBLISHED = 1000.0

SolverName = Literal["euler", "midpoint", "heun", "rk4"]


@dataclass(frozen=True)
class Solver:
    """An explicit Runge-Kutta method for dx/dt = f(t, x), where f is what a block adds to x.

    Attributes:
        reads: Where in a depth step each evaluation reads the weights: 0 is its start, 1 its end.
        rows: For every evaluation, the share of the step that each slope before it has moved x by.
        weights: Shares of the slopes in the whole step.
    """

    reads: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]


# Every t at which a pass reads weights is known beforehand: they are computed at once, scanned over, frozen, and in
# generation each evaluation has a cache. diffrax instead calls the field at a t of its own within its own loop.
#
# The grid 1/L, 2/L, ..., 1 says that a step reads the weights at its end. Midpoint takes its first half step in the
# same way, so that it reads in the middle twice. Heun and RK4 read at t = 0 too, which no Euler step does.
SOLVERS: dict[str, Solver] = {
    "euler": Solver((1.0,), ((),), (1.0,)),
    "midpoint": Solver((0.5, 0.5), ((), (0.5,)), (0.0, 1.0)),
    "heun": Solver((0.0, 1.0), ((), (1.0,)), (0.5, 0.5)),
    "rk4": Solver((0.0, 0.5, 0.5, 1.0), ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}


class TimeIndexed(eqx.Module):
    """A layer whose weights depend on t. `at(time)` gives the ordinary layer with the weights of that depth.

    `time` is what `TimeEmbedding` returns; if it has a `depth` axis, the weights that depend on t have one too.
    `shared_fields` names the fields that hold weights which all depths share, as opposed to what reads t.
    """

    shared_fields: ClassVar[tuple[str, ...]] = ()

    @abc.abstractmethod
    def at(self, time: NamedArray) -> Any: ...


def at(tree: Tree, time: NamedArray | None) -> Tree:
    """`tree` with every time-indexed layer in it replaced by the plain layer it is at `time`."""
    if time is None:
        return tree

    def is_time_indexed(node: Any) -> bool:
        return isinstance(node, TimeIndexed)

    return jax.tree.map(lambda node: node.at(time) if is_time_indexed(node) else node, tree, is_leaf=is_time_indexed)


def depths(steps: int, solver: str = "euler") -> np.ndarray:
    """The depths at which a pass reads weights, in double precision: t = 1/steps, 2/steps, ..., 1 for Euler."""
    return np.unique(_halves_read(steps, solver)) / (2 * steps)


def check_depth(t: float) -> float:
    """`t` as a float, or a ValueError if it is not a depth."""
    if not 0.0 < t <= 1.0:
        raise ValueError(f"t={t} is not a depth: t lies in (0, 1]")
    return float(t)


def depth_grid(steps: int, solver: str = "euler") -> NamedArray:
    """`depths` along the axis `depth`."""
    if solver == "euler":
        return (hax.arange(Axis("depth", steps)).astype(jnp.float32) + 1.0) / steps
    return hax.named(depths(steps, solver).astype(np.float32), "depth")


def places_read(steps: int, solver: str) -> np.ndarray:
    """Where in `depth_grid` every evaluation reads its weights, {step, evaluation}."""
    halves = _halves_read(steps, solver)
    return np.searchsorted(np.unique(halves), halves)


def _halves_read(steps: int, solver: str) -> np.ndarray:
    """Where every evaluation reads, in half steps from t = 0, {step, evaluation}."""
    return 2 * np.arange(steps)[:, None] + np.array([round(2 * each) for each in SOLVERS[solver].reads])


def advance(solver: str, slope: Callable[[int, NamedArray], NamedArray], x: NamedArray, step_size: float) -> NamedArray:
    """One depth step; `slope(number, x)` evaluates dx/dt for the evaluation of this number."""
    method, slopes = SOLVERS[solver], []

    def moved(shares: tuple[float, ...]) -> NamedArray:
        return sum((share * step_size * each for share, each in zip(shares, slopes, strict=True) if share), start=x)

    for number, row in enumerate(method.rows):
        slopes.append(slope(number, moved(row)))
    return moved(method.weights)


class TimeEmbedding(eqx.Module):
    """Features of t, and a small network on them if all layers share one.

    The published features hold sin and cos of 1000 t w with w down to 1/10000. Between two depth steps many of them
    turn by more than half a circle, so training at six depths says nothing about the depths between. The smooth ones
    turn by two circles at most on the whole way from 0 to 1.
    """

    network: Linear | None  # features -> time; None when every layer has a network of its own
    Features: Axis = eqx.field(static=True)
    basis: TimeFeatures = eqx.field(static=True)
    reads_step: bool = eqx.field(static=True)
    held_constant: bool = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray) -> "TimeEmbedding":
        shared = config.time_network == "shared"
        network = Linear.init(config.Features, config.TimeUnits, key=key) if shared else None
        constant = config.time == "constant"
        return TimeEmbedding(network, config.Features, config.time_features, config.step_features, constant)

    @property
    def Out(self) -> Axis:  # noqa: N802
        """The axis of what this embedding returns."""
        return self.Features if self.network is None else self.network.Out[0]

    def features(self, t: NamedArray, steps: int) -> NamedArray:
        """Raw features of t on a path of `steps` depth steps, with t's axes and `features`."""
        if self.held_constant:
            t = t * 0.0
        count = self.Features.size - (NUM_STEP_FEATURES if self.reads_step else 0)
        columns = legendre(t, count) if self.basis == "legendre" else waves(t, count, self.basis)
        if self.reads_step:
            of_step = jnp.asarray([1.0 / steps, math.log2(steps) / 4.0], jnp.float32)
            columns.append(hax.named(of_step, "features").broadcast_axis(t.axes))
        return hax.concatenate(self.Features, columns)

    def __call__(self, t: NamedArray, steps: int) -> NamedArray:
        features = self.features(t, steps)
        if self.network is None:
            return features
        features = features.astype(self.network.weight.dtype)
        return activate(self.network(features), "silu")


def waves(t: NamedArray, count: int, basis: TimeFeatures) -> list[NamedArray]:
    """t, and sine and cosine of t at (count - 1) / 2 frequencies."""
    pairs = (count - 1) // 2
    if basis == "published":
        rates = FASTEST_PUBLISHED * jnp.exp(-math.log(10_000.0) * jnp.arange(pairs, dtype=jnp.float32) / pairs)
    else:
        rates = jnp.pi * jnp.geomspace(SLOWEST_WAVE, FASTEST_WAVE, pairs, dtype=jnp.float32)
    rates = hax.named(rates, Axis("features", pairs))
    angles = t.broadcast_axis(rates.axes[0]) * rates
    return [t.broadcast_axis(Axis("features", 1)), hax.sin(angles), hax.cos(angles)]


def turns_of_time(config: ModelConfig) -> float:
    """How often the fastest feature of t goes up and down again between t = 0 and 1; 0 if nothing reads t."""
    if config.time == "constant" or not config.is_continuous or config.weights == "tied":
        return 0.0
    if config.time_features == "legendre":
        return (config.Features.size - NUM_STEP_FEATURES * config.step_features) / 2
    return FASTEST_PUBLISHED / (2 * math.pi) if config.time_features == "published" else FASTEST_WAVE / 2


def legendre(t: NamedArray, count: int) -> list[NamedArray]:
    """Legendre polynomials of degree 1 to `count`, moved from [-1, 1] to [0, 1], by Bonnet's recurrence."""
    x = 2.0 * t - 1.0
    polynomials = [hax.ones_like(x), x]
    for n in range(1, count):
        polynomials.append(((2 * n + 1) * x * polynomials[n] - n * polynomials[n - 1]) / (n + 1))
    return [each.broadcast_axis(Axis("features", 1)) for each in polynomials[1:]]


def run_depth(
    blocks: Callable[..., NamedArray],
    x: NamedArray,
    *,
    steps: int,
    step_size: float,
    solver: str = "euler",
    key: PRNGKeyArray | None = None,
    keep_path: bool = False,
    recompute: bool = False,
    unroll: int = 1,
) -> tuple[NamedArray, NamedArray | None]:
    """`x = block(x, step_size)` once per depth step, as a scan, so that compile time does not grow with depth.

    Args:
        blocks: A block with concrete weights. Weights with a `depth` axis are read step by step, weights without one
            are the same at every depth and stay a single copy.
        step_size: What a block's output is multiplied with before it is added.
        solver: With another one than Euler, `blocks` has the weights at all depths of `depth_grid(steps, solver)`.
        key: Dropout key; `None` for evaluation.
        keep_path: Also return x after every depth step, along `depth`.
        recompute: Keep only x between blocks for the backward pass; otherwise the results of matrix products too.
        unroll: Depth steps that are compiled one after the other in each turn of the scan. Within a turn the backward
            pass finds arrays where the forward pass left them, not in a stack: with 6, a CPU trains about a tenth
            faster. Compile time grows with this number, and not with depth.
    """
    t = depth_grid(steps)
    keys = None if key is None else jr.split(key, steps)
    places = [hax.named(each, "depth") for each in places_read(steps, solver).T]
    evaluated = blocks if solver == "euler" else [at_place(blocks, each) for each in places]

    def one_step(x: NamedArray, block: Any, t: NamedArray, key: PRNGKeyArray | None = None):
        del t  # scanned along only so that a block with no weight of its own per depth still has a depth axis
        if solver == "euler":
            x = block(x, step_size, key=key)
        else:
            x = advance(solver, lambda number, x: block[number].slope(x)[0], x, step_size)
        return x, (x if keep_path else None)

    # What lies between matrix products is cheaper to compute again than to carry through memory: with all of it kept,
    # a training step of `standard` needs 312 MB instead of 121 MB of temporary memory. Without a loop the compiler
    # finds that by itself, and the marks that `checkpoint` leaves in the code only cost time, about a tenth.
    if recompute or unroll < steps:
        policies = jax.checkpoint_policies
        policy = policies.nothing_saveable if recompute else policies.dots_saveable
        one_step = jax.checkpoint(one_step, policy=policy, prevent_cse=False)
    scan: Any = hax.scan(one_step, t.axes[0], unroll=min(unroll, steps))
    return scan(x, evaluated, t) if keys is None else scan(x, evaluated, t, keys)


def at_place(blocks: Tree, place: int | NamedArray) -> Tree:
    """`blocks` at one place of their `depth` axis, or at several; shared weights have none and stay as they are."""

    def take(leaf: Any) -> Any:
        return leaf["depth", place] if isinstance(leaf, NamedArray) and leaf.has_axis("depth") else leaf

    return hax.tree_util.tree_map(take, blocks)
