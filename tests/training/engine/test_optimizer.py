"""Schedules by hand-worked values, decay on matrices only."""

import re

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from haliax import Axis
from safetensors.numpy import load_file

from tests.factories import GRID, build
from tests.training.engine.tiny import TINY, assert_same_arrays
from training.engine.loop import train
from training.engine.muon import muon_dimensions
from training.engine.optimizer import is_matrix, learning_rate_schedule, make_optimizer, tail_mean, track_mean


def test_warm_up_rises_to_the_peak_and_cosine_falls_to_its_share():
    changes = ["num_steps=14", "warmup_steps=4", "schedule=cosine", "learning_rate=1", "final_learning_rate_share=0.1"]
    rate = learning_rate_schedule(TINY.change(changes), 1.0)
    found = [float(rate(step)) for step in range(14)]
    np.testing.assert_allclose(found[:5], [0.25, 0.5, 0.75, 1.0, 1.0], rtol=1e-6)
    np.testing.assert_allclose(found[9], 0.55, rtol=1e-6)  # half way down
    assert found[4:] == sorted(found[4:], reverse=True)
    np.testing.assert_allclose(float(rate(14)), 0.1, rtol=1e-6)


def test_a_constant_rate_is_constant():
    rate = learning_rate_schedule(TINY, TINY.learning_rate)
    assert float(rate(0)) == float(rate(11)) == pytest.approx(1e-2)


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
    optimizer = make_optimizer(TINY.change(changes), build(GRID["standard"]))
    A, B = Axis("a", 2), Axis("b", 2)
    parameters = {"matrix": hax.full((A, B), 2.0), "vector": hax.full(A, 2.0)}
    gradients = jax.tree.map(lambda leaf: jnp.full_like(leaf, 3.0), parameters)
    updates, _ = optimizer.update(gradients, optimizer.init(parameters), parameters)
    # Adam's first step has length 1 whatever the gradient; matrices shrink by a tenth of themselves on top.
    np.testing.assert_allclose(updates["vector"].array, -0.5, rtol=1e-4)
    np.testing.assert_allclose(updates["matrix"].array, -0.5 * (1 + 0.1 * 2.0), rtol=1e-4)


MATRICES = {
    "standard": {"qkv": 3, "output": 1, "up": 1, "down": 1},
    "time-indexed-ssm": {"qkv": 3, "output": 1, "enter": 1, "branch": 1, "into_state": 1, "from_state": 1, "leave": 1},
    "neural-ode": {"qkv": 3, "output": 1, "up": 1, "down": 1},
}


@pytest.mark.parametrize("kind", MATRICES)
def test_muon_makes_every_dense_matrix_of_the_blocks_orthogonal_by_itself_and_leaves_the_rest_to_adam(kind):
    recipe = TINY.change(["optimizer=muon", "learning_rate=0.5", "adam_learning_rate=0.01", "weight_decay=0"])
    model = build(GRID[kind])
    parameters = eqx.filter(model, eqx.is_array)
    optimizer = make_optimizer(recipe, model)
    updates, _ = jax.jit(optimizer.update)(parameters, optimizer.init(parameters), parameters)
    _, labels = muon_dimensions(model)
    moved = {
        jax.tree_util.keystr(path): np.asarray(update)
        for (path, update), label in zip(jax.tree.leaves_with_path(updates), jax.tree.leaves(labels), strict=True)
        if label == "muon"
    }
    found = {name: [each for path, each in moved.items() if f".{name}." in path] for name in MATRICES[kind]}
    assert sum(map(len, found.values())) + (kind == "time-indexed-ssm") == len(moved)  # and the step size's matrix
    for name, stacks in found.items():
        for stack in stacks:
            depth = GRID[kind].num_layers if kind == "standard" else 1
            each = stack.reshape(depth, *stack.shape[1:] if kind == "standard" else stack.shape)
            if name == "qkv":  # embed, (query | key | value), heads, head_size
                each = np.moveaxis(each, 2, 1).reshape(depth * 3, each.shape[1], -1)
            elif name == "output":
                each = each.reshape(depth, -1, each.shape[-1])
            for matrix in each:
                singular = np.linalg.svd(matrix, compute_uv=False) / (0.5 * 0.2 * max(matrix.shape) ** 0.5)
                # Five iterations leave the smallest ones of a square matrix behind.
                assert 0.65 < np.median(singular) <= singular.max() < 1.3, name
    embedding = np.abs(updates.embedding.array)
    np.testing.assert_allclose(embedding[embedding > 0], 0.01, rtol=1e-2)


def test_the_mean_is_that_of_the_weights_after_the_last_steps():
    recipe = TINY.change(["num_steps=10", "average_tail=0.3"])
    optimizer = optax.chain(optax.sgd(0.1), track_mean(recipe))
    weights = {"mean": jnp.arange(3.0), "bias": jnp.float32(2.0)}
    state, path = optimizer.init(weights), []
    for _ in range(10):
        updates, state = optimizer.update(weights, state, weights)
        weights = optax.apply_updates(weights, updates)
        path.append(weights)
    expected = jax.tree.map(lambda *last: sum(last) / 3, *path[-3:])
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-6), tail_mean(state), expected)


@pytest.mark.slow
def test_a_run_ends_with_the_mean_of_its_last_weights(make_run, stream):
    def weights(folder: str, *changes: str) -> dict[str, np.ndarray]:
        run = make_run("time-indexed-mlp", *changes, folder=folder)
        train(run, stream=stream)
        return load_file(run.folder / "model.safetensors")

    plain, last, tail = weights("plain"), weights("last", "average_tail=0.01"), weights("tail", "average_tail=0.5")
    assert_same_arrays(plain, last)  # the mean of one
    assert any((plain[name] != tail[name]).any() for name in plain)
