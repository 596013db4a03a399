"""Derivatives that are written out are those that JAX finds by itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tipshare.model.derivatives import EPSILON, gelu, standardise


def plain_standardise(x):
    centred = x - jnp.mean(x, -1, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred**2, -1, keepdims=True) + EPSILON)


@pytest.mark.parametrize(("function", "plain"), [(gelu, jax.nn.gelu), (standardise, plain_standardise)])
def test_values_and_gradients_are_those_of_the_plain_function(function, plain):
    key_x, key_gradient = jax.random.split(jax.random.key(0))
    x, gradient = 3.0 * jax.random.normal(key_x, (5, 64)), jax.random.normal(key_gradient, (5, 64))
    value, pull_back = jax.vjp(function, x)
    with jax.enable_x64(True):  # in float32 the plain derivative has rounding errors of its own
        expected, pull_back_plain = jax.vjp(plain, np.asarray(x, np.float64))
        expected_gradient = pull_back_plain(np.asarray(gradient, np.float64))[0]
    np.testing.assert_allclose(value, expected, atol=1e-5)
    np.testing.assert_allclose(pull_back(gradient)[0], expected_gradient, atol=1e-5)


def test_the_slope_of_gelu_is_finite_far_out_and_keeps_its_type():
    x = jnp.asarray([-1e4, -50.0, -0.0, 50.0, 1e4])
    np.testing.assert_allclose(jax.vmap(jax.grad(gelu))(x), [0.0, 0.0, 0.5, 1.0, 1.0], atol=1e-6)
    assert jax.vmap(jax.grad(gelu))(x.astype(jnp.bfloat16)).dtype == jnp.bfloat16


def test_a_constant_vector_is_standardised_to_zero():
    x = jnp.full((2, 8), 7.0)
    np.testing.assert_array_equal(standardise(x), jnp.zeros_like(x))
    assert np.isfinite(jax.grad(lambda x: standardise(x).sum())(x)).all()
