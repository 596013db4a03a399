"""Schedules by hand-worked values, decay on matrices only."""

import re

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from haliax import Axis

from tests.factories import GRID
from tests.training.engine.tiny import TINY
from training.engine.optimizer import is_matrix, learning_rate_schedule, make_optimizer
from training.recipes.library import RECIPES


def test_warm_up_rises_to_the_peak_and_cosine_falls_to_its_share():
    changes = ["num_steps=14", "warmup_steps=4", "schedule=cosine", "learning_rate=1", "final_learning_rate_share=0.1"]
    rate = learning_rate_schedule(TINY.change(changes), "standard")
    found = [float(rate(step)) for step in range(14)]
    np.testing.assert_allclose(found[:5], [0.25, 0.5, 0.75, 1.0, 1.0], rtol=1e-6)
    np.testing.assert_allclose(found[9], 0.55, rtol=1e-6)  # half way down
    assert found[4:] == sorted(found[4:], reverse=True)
    np.testing.assert_allclose(float(rate(14)), 0.1, rtol=1e-6)


def test_a_constant_rate_is_constant_and_kinds_may_have_their_own():
    rate = learning_rate_schedule(TINY, "standard")
    assert float(rate(0)) == float(rate(11)) == pytest.approx(1e-2)
    showcase = RECIPES["showcase"]
    assert showcase.kind_learning_rates["standard"] != showcase.learning_rate
    peaks = [float(learning_rate_schedule(showcase, kind)(200)) for kind in ("standard", "time-indexed-ssm")]
    np.testing.assert_allclose(peaks, [showcase.kind_learning_rates["standard"], showcase.learning_rate])


# Biases, norms, and the state space's vectors: as they are, behind a gate, or generated.
VECTORS = (
    r"\.bias",
    r"\.arrays\['bias'\]\.(projection|base)",
    r"norm\.weight",
    r"norm\.arrays\['weight'\]\.projection",
    r"\.(skip|rate)(\.layer)?\.(weight|log_rate)",
    r"(skip|rate)('\])?\.arrays\['(weight|log_rate)'\]\.(projection|base)",
)


def test_only_matrices_and_what_generates_them_decay():
    unmatched = set(VECTORS)
    for config in GRID.values():
        shapes = eqx.filter_eval_shape(config.build, key=jax.random.key(0))
        for path, decays in jax.tree.leaves_with_path(is_matrix(shapes)):
            name = jax.tree_util.keystr(path)
            matched = {vector for vector in VECTORS if re.search(f"{vector}$", name)}
            assert decays == (not matched), (config, name)
            unmatched -= matched
    assert not unmatched  # every pattern has been met


def test_one_adamw_step_by_hand():
    changes = ["optimizer=adamw", "weight_decay=0.1", "learning_rate=0.5", "clip_norm=1"]
    optimizer = make_optimizer(TINY.change(changes), "standard")
    A, B = Axis("a", 2), Axis("b", 2)
    parameters = {"matrix": hax.full((A, B), 2.0), "vector": hax.full(A, 2.0)}
    gradients = jax.tree.map(lambda leaf: jnp.full_like(leaf, 3.0), parameters)
    updates, _ = optimizer.update(gradients, optimizer.init(parameters), parameters)
    # Adam's first step has length 1 whatever the gradient; matrices shrink by a tenth of themselves on top.
    np.testing.assert_allclose(updates["vector"].array, -0.5, rtol=1e-4)
    np.testing.assert_allclose(updates["matrix"].array, -0.5 * (1 + 0.1 * 2.0), rtol=1e-4)
