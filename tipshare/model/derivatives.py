"""Functions whose derivatives are written out, since those that JAX derives carry more through memory than needed."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array

# gelu(x) = x * sigmoid(u), u = GELU_SLOPE * (x + GELU_CUBIC * x^3): the usual form with a tanh, rewritten.
GELU_SLOPE = 2.0 * math.sqrt(2.0 / math.pi)
GELU_CUBIC = 0.044715
# Added to a variance, so that a constant vector can be normalised too.
EPSILON = 1e-5


@jax.custom_vjp
def gelu(x: Array) -> Array:
    """The Gaussian error linear unit by its tanh approximation; of the forward pass only `x` is kept."""
    return jax.nn.gelu(x)


def _gelu_forward(x: Array) -> tuple[Array, Array]:
    return gelu(x), x


def _gelu_backward(x: Array, gradient: Array) -> tuple[Array]:
    # With an exponential, not the tanh of the forward pass: that one the compiler would recognise and keep in memory,
    # which takes longer than to work it out again.
    share = 1.0 / (1.0 + jnp.exp(-GELU_SLOPE * x * (1.0 + GELU_CUBIC * x * x)))
    slope = share + x * share * (1.0 - share) * GELU_SLOPE * (1.0 + 3.0 * GELU_CUBIC * x * x)
    return ((gradient * slope).astype(x.dtype),)


gelu.defvjp(_gelu_forward, _gelu_backward)


@jax.custom_vjp
def standardise(x: Array) -> Array:
    """`(x - mean) / deviation` along the last axis."""
    return _standardise(x)[0]


def _standardise(x: Array) -> tuple[Array, Array]:
    """The standardised array and what it was multiplied with."""
    centred = x - jnp.mean(x, -1, keepdims=True)
    factor = jax.lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + EPSILON)
    return centred * factor, factor


def _standardise_forward(x: Array) -> tuple[Array, tuple[Array, Array]]:
    y, factor = _standardise(x)
    return y, (y, factor)


def _standardise_backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array]:
    y, factor = kept
    along = jnp.mean(gradient * y, -1, keepdims=True)
    return ((gradient - jnp.mean(gradient, -1, keepdims=True) - y * along) * factor,)


standardise.defvjp(_standardise_forward, _standardise_backward)
