"""Gradients: they reach every weight, and do not depend on how the depth scan is compiled."""

import equinox as eqx
import jax
import numpy as np
import pytest

from tests.factories import GRID, TARGETS, TOKENS, build, each_config


@each_config
def test_gradients_reach_every_weight_and_training_lowers_the_loss(config):
    model = build(config)

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss_of(model):
        return model.compute_loss(TOKENS, TARGETS)

    loss, gradients = loss_of(model)
    for path, leaf in jax.tree_util.tree_leaves_with_path(gradients):
        name = jax.tree_util.keystr(path)
        assert np.isfinite(leaf).all(), name
        assert np.abs(leaf).max() > 0, name
    for _ in range(5):
        model = eqx.apply_updates(model, jax.tree.map(lambda g: -0.02 * g, gradients))
        later, gradients = loss_of(model)
    assert later < loss


@pytest.mark.parametrize("unroll", [2, 3, 8])
def test_unrolling_the_depth_scan_changes_neither_loss_nor_gradients(unroll):
    model = build(GRID["time-indexed-ssm"])

    def loss_and_gradients(unroll: int):
        def loss_of(model):
            return model.compute_loss(TOKENS, TARGETS, unroll=unroll)

        return eqx.filter_jit(eqx.filter_value_and_grad(loss_of))(model)

    plain, unrolled = loss_and_gradients(1), loss_and_gradients(unroll)
    for first, second in zip(jax.tree.leaves(plain), jax.tree.leaves(unrolled), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-6)
