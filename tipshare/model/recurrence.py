"""A linear recurrence along positions, all at once: the one loop over text that a state-space layer needs."""

import jax
import jax.numpy as jnp
from jaxtyping import Array


@jax.custom_vjp
def run_recurrence(decay: Array, drive: Array) -> Array:
    """h_p = decay_p h_(p-1) + drive_p for every p along axis 1, from h = 0, by a parallel prefix scan."""
    return _scan(decay, drive)


def _scan(decay: Array, drive: Array, *, reverse: bool = False) -> Array:
    """Applying (a, b) and then (c, d) is applying (a c, b c + d), which is associative."""

    def then(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
        return first[0] * second[0], first[1] * second[0] + second[1]

    return jax.lax.associative_scan(then, (decay, drive), axis=1, reverse=reverse)[1]


def _forward(decay: Array, drive: Array) -> tuple[Array, tuple[Array, Array]]:
    h = run_recurrence(decay, drive)
    return h, (decay, h)


def _backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    # What reaches h_p is its own gradient and decay_(p+1) of what reaches h_(p+1): the same recurrence, backwards. The
    # derivative that JAX finds goes through every level of the prefix scan instead, and takes longer to compile too.
    decay, h = kept
    reached = _scan(_shift(decay, -1), gradient, reverse=True)
    return reached * _shift(h, 1), reached


def _shift(x: Array, places: int) -> Array:
    """`x` moved along axis 1 by one place, on (1) or back (-1), with a zero where nothing comes from."""
    padding = [(0, 0, 0)] * x.ndim
    padding[1] = (places, -places, 0)
    return jax.lax.pad(x, jnp.zeros((), x.dtype), padding)


run_recurrence.defvjp(_forward, _backward)
