"""How fast disturbances grow along depth: finite-time Lyapunov exponents.

A pass is a path x_1 = f_1(x_0), ..., x_L = f_L(x_(L-1)) of the residual streams of a whole text, through t = 1/L, ...,
1. With J = J_L ... J_1 the product of the Jacobians along it, the finite-time exponents are the logarithms of the
singular values of J, per unit of depth; as t runs from 0 to 1, a pass is one unit, for Euler and for residual steps.
The product is computed by a QR decomposition per depth step (Benettin et al., 1980; Eckmann & Ruelle, "Ergodic theory
of chaos", 1985), so that nothing overflows on paths of many steps.

Derivatives along a direction are transposes of those that run backwards, since parts of a block have derivatives of
their own that JAX knows backwards only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from tipshare.analysis.texts import finite, hidden_states, in_float32
from tipshare.model.block import Block
from tipshare.model.depth import at_place
from tipshare.model.language_model import LanguageModel
from tipshare.validation import check_whole

# Directions that are pushed through a pass at the same time: bounds memory on long texts.
AT_ONCE = 16
# Numbers in the residual streams of a text, up to which the whole spectrum is computed.
MOST_EXACT = 1_024
# Directions for longer texts, and rounds of subspace iteration that turn them towards those that grow most.
DIRECTIONS, ROUNDS = 16, 4
# Products whose singular values lie within e^23 of each other are multiplied out in float64 without loss that matters.
MOST_SPREAD = 23.0

# Directions as columns, {state, direction}, through one step.
Push = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Exponents:
    """Finite-time Lyapunov exponents of one path.

    Attributes:
        values: Per unit of time, the largest first.
        is_complete: Whether there is one for every dimension of the state; otherwise these are the leading ones.
    """

    values: np.ndarray
    is_complete: bool

    @property
    def largest(self) -> float:
        return float(self.values[0])

    @property
    def dimension(self) -> float | None:
        """Kaplan-Yorke dimension; None if the exponents that are known do not reach it."""
        return kaplan_yorke(self.values, is_complete=self.is_complete)


def kaplan_yorke(values: Sequence[float] | np.ndarray, *, is_complete: bool = True) -> float | None:
    """j + (lambda_1 + ... + lambda_j) / |lambda_(j+1)|, with the largest j for which the sum is not negative.

    The dimension of the attractor that a flow with these exponents settles on (Kaplan & Yorke, 1979). Cost: none.

    Args:
        values: Exponents; their order does not matter.
        is_complete: Whether there is one per dimension. If not, and all sums are positive, the answer is None.

    Example:
        kaplan_yorke([0.9, 0.0, -14.6])  # 2.06: the Lorenz attractor
    """
    ordered = np.sort(np.asarray(values, np.float64))[::-1]
    sums = np.cumsum(ordered)
    negative = np.flatnonzero(sums < 0)
    if not negative.size:
        return float(len(ordered)) if is_complete else None
    j = int(negative[0])
    return j + (float(sums[j - 1]) if j else 0.0) / abs(float(ordered[j]))


def exponents_of(
    pushes: Sequence[Push],
    size: int,
    *,
    directions: int | None = None,
    pulls: Sequence[Push] | None = None,
    duration: float = 1.0,
) -> Exponents:
    """Finite-time exponents of a path of linear maps: log singular values of their product, per unit of time.

    Q_0 = 1; J_l Q_(l-1) = Q_l R_l; then J = Q_L R_L ... R_1. The triangular product is multiplied out if its singular
    values are within reach of float64; if they are not, R_1^T ... R_L^T is decomposed in the same way, again and again:
    each round is one of the QR algorithm, and the sums of log |diag R_l| converge to the exponents.

    Cost: a push per step and, for n directions, a QR decomposition of {size, n}. With few directions, ROUNDS times that
    forth and back, which turns them towards those that grow most.

    Args:
        pushes: Each step's map of directions, {size, direction} -> {size, direction}; `matrix.__matmul__` for a matrix.
        directions: How many exponents to work out, the leading ones; all if None, which is exact.
        pulls: The transposed maps, for fewer directions than dimensions.
        duration: Time that the whole path takes.

    Example:
        exponents_of([np.diag([2.0, 0.5]).__matmul__] * 10, 2, duration=10).values  # log 2, -log 2
    """
    count = size if directions is None else min(check_whole("directions", directions), size)
    q = np.eye(size)
    if count < size:
        if pulls is None:
            raise ValueError(
                f"directions={directions} of {size} need the transposed maps: give pulls, or directions=None"
            )
        q = np.linalg.qr(np.random.default_rng(0).standard_normal((size, count)))[0]
        for _ in range(ROUNDS):
            for push in (*pushes, *reversed(pulls)):
                q = np.linalg.qr(push(q))[0]
    factors = []
    for push in pushes:
        q, r = np.linalg.qr(finite("derivatives", push(q)))
        factors.append(r)
    return Exponents(_log_singular_values(factors) / duration, count == size)


def _log_singular_values(factors: list[np.ndarray]) -> np.ndarray:
    """Of the product of triangular matrices, of which the first is applied first; -inf for zero, largest first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(60):
            logs = np.sum([np.log(np.abs(np.diag(r))) for r in factors], axis=0)
            if logs.max() - logs.min() < MOST_SPREAD:
                product, scale = np.eye(len(logs)), 0.0
                for r in factors:
                    product = r @ product
                    size = np.abs(product).max()
                    product, scale = product / size, scale + np.log(size)
                return np.log(np.linalg.svd(product, compute_uv=False)) + scale
            transposed, q = [], np.eye(len(logs))
            for r in reversed(factors):
                q, upper = np.linalg.qr(r.T @ q)
                transposed.append(upper)
            factors, before = transposed, logs
            after = np.sum([np.log(np.abs(np.diag(r))) for r in factors], axis=0)
            finite_ones = np.isfinite(after) & np.isfinite(before)
            if np.allclose(np.sort(after[finite_ones]), np.sort(before[finite_ones]), rtol=1e-9, atol=1e-9):
                break
    return np.sort(logs)[::-1]


def lyapunov_exponents(
    model: LanguageModel, text: str | bytes, steps: int | None = None, *, directions: int | None = None
) -> Exponents:
    """Finite-time Lyapunov exponents of a pass over a text: of the residual streams of all its bytes along depth.

    Exact for texts of up to MOST_EXACT numbers, that is positions times width; beyond, the DIRECTIONS leading
    exponents, from below: the more they stand out, the closer.

    Cost: per depth step, a backward pass for each direction and round; about 3 s for 64 bytes of a model 256 wide.

    Args:
        directions: How many exponents to work out; as said above if None.

    Example:
        found = lyapunov_exponents(model, "abc")
        print(found.largest, found.dimension)
    """
    model = in_float32(model)
    states = hidden_states(model, text, steps)
    number, size = len(states) - 1, states[0].size
    if directions is None and size > MOST_EXACT:
        directions = DIRECTIONS
    blocks = model.blocks(number)
    step_size = model.step_size(number)
    pushes, pulls = [], []
    for step in range(number):
        block = at_place(blocks, step)
        x = jnp.asarray(states[step], jnp.float32)
        pushes.append(_by_columns(_push, block, x, step_size))
        pulls.append(_by_columns(_pull, block, x, step_size))
    return exponents_of(pushes, size, directions=directions, pulls=pulls)


def _by_columns(function: Callable[..., Array], *arguments: Any) -> Push:
    """A compiled function of rows of directions as one of columns."""

    def push(columns: np.ndarray) -> np.ndarray:
        count = columns.shape[1]
        # Few shapes, so few compilations.
        rows = np.zeros((-(-count // AT_ONCE) * AT_ONCE, columns.shape[0]), np.float32)
        rows[:count] = columns.T
        return np.asarray(function(*arguments, rows), np.float64)[:count].T

    return push


def _step(block: Block, step_size: Any) -> Callable[[Array], Array]:
    return lambda x: block(hax.named(x, ("position", "embed")), step_size).rearrange(("position", "embed")).array


@eqx.filter_jit
def _pull(block: Block, x: Array, step_size: Any, rows: Array) -> Array:
    """J^T u for every row u."""
    _, pull = jax.vjp(_step(block, step_size), x)
    return in_groups(lambda u: pull(u.reshape(x.shape))[0].reshape(-1), rows)


@eqx.filter_jit
def _push(block: Block, x: Array, step_size: Any, rows: Array) -> Array:
    """J v for every row v."""
    _, pull = jax.vjp(_step(block, step_size), x)
    _, push = jax.vjp(lambda u: pull(u)[0], jnp.zeros_like(x))
    return in_groups(lambda v: push(v.reshape(x.shape))[0].reshape(-1), rows)


def in_groups(function: Callable[[Array], Array], rows: Array) -> Array:
    """A function of one direction for all of them, AT_ONCE at a time."""
    return jax.lax.map(function, rows, batch_size=AT_ONCE)
