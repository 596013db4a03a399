"""Elastic depth: what is drawn, that a run repeats it exactly, and who refuses it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

import tipshare
from tests.training.engine.tiny import TINY, StoppingCorpus, assert_same_arrays, repeatable
from training.engine.elastic import count_draws, depths_of, depths_to_evaluate, draw_depth
from training.engine.loop import train
from training.engine.sharding import Placement
from training.engine.step import Program

ELASTIC = dataclasses.replace(TINY, depth_steps=(1, 2, 4), depth_evaluation=(1, 2, 4, 6))
GATED = tipshare.TimeIndexedMlpConfig(**TINY.model, max_position_embeddings=16)


def drawn(recipe, seed=0, count=600):
    return [draw_depth(dataclasses.replace(recipe, num_steps=count), GATED, seed, step) for step in range(1, count + 1)]


def test_the_draw_depends_on_seed_and_step_alone():
    assert drawn(ELASTIC) == drawn(ELASTIC)
    assert drawn(ELASTIC) != drawn(ELASTIC, seed=1)
    assert [draw_depth(ELASTIC, GATED, 42, step) for step in range(1, 9)] == [2, 1, 1, 2, 4, 4, 4, 2]  # for good


def test_equal_weights_draw_equally_often_and_others_in_proportion():
    counts = [drawn(ELASTIC, count=3_000).count(depth) for depth in (1, 2, 4)]
    assert all(abs(count - 1_000) < 120 for count in counts)
    weighted = dataclasses.replace(ELASTIC, depth_steps=(4, 1, 2), depth_weights=(2.0, 1.0, 1.0))
    assert abs(drawn(weighted, count=3_000).count(4) - 1_500) < 120


def test_a_growing_set_starts_with_the_fewest_depth_steps_and_ends_with_all():
    growing = drawn(dataclasses.replace(ELASTIC, depth_growth=0.6))
    assert set(growing[:120]) == {1}
    assert set(growing[120:240]) == {1, 2}
    assert set(growing[360:]) == {1, 2, 4}


def test_without_a_set_every_step_has_the_models_own_depth():
    assert depths_of(TINY, GATED) == (2,)
    assert count_draws(TINY, GATED, 0, TINY.num_steps) == {2: TINY.num_steps}


def test_the_depths_that_were_drawn_are_read_too():
    recipe = dataclasses.replace(ELASTIC, depth_evaluation=(2, 6))
    assert depths_to_evaluate(recipe, GATED) == (1, 2, 4, 6)
    assert depths_to_evaluate(recipe, GATED.replace(weights="own")) == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth_steps": (2, 2)}, "different whole numbers"),
        ({"depth_steps": (0, 2)}, "different whole numbers"),
        ({"depth_steps": (1, 2), "depth_weights": (1.0,)}, "one number above 0 for each"),
        ({"depth_growth": 0.5}, "need depth_steps"),
        ({"consistency": 0.1}, "need depth_steps"),
    ],
)
def test_bad_fields_are_refused_in_words(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(TINY, **changes)


def test_layers_of_their_own_have_no_other_depth(make_run, stream):
    with pytest.raises(ValueError, match="has exactly 2 layers: choose weights that are defined at every depth"):
        train(make_run("standard", "depth_steps=[1,2,4]"), stream=stream)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [(), ("consistency=0.1", "depth_growth=0.5", "average_tail=0.5")],
    ids=["plain", "consistent, growing, averaged"],
)
def test_an_interrupted_elastic_run_ends_bit_identical_to_one_that_was_not(make_run, corpus, stream, changes):
    changes = ("depth_steps=[1,2,4]", "depth_evaluation=[6]", *changes)
    whole = train(make_run("time-indexed-mlp", *changes, folder="whole"), stream=stream)
    text = StoppingCorpus.before(7, corpus)
    run = make_run("time-indexed-mlp", *changes, folder="broken", text=text)
    with pytest.raises(OSError, match="the disk is gone"):
        train(run, stream=stream)
    continued = train(make_run("time-indexed-mlp", *changes, folder="broken"), stream=stream)
    assert repeatable(continued) == repeatable(whole)
    assert_same_arrays(*(load_file(run.folder.parent / each / "model.safetensors") for each in ("whole", "broken")))
    assert sum(whole.final[f"training_steps_at_depth_{depth}"] for depth in (1, 2, 4)) == TINY.num_steps
    assert {f"valid_loss_at_steps_{depth}" for depth in (1, 2, 4, 6)} <= set(whole.final)


@pytest.mark.parametrize("step", ["residual", "euler"])
@pytest.mark.parametrize("weights", ["generated", "gated", "tied"])
def test_a_step_at_another_depth_is_the_gradient_of_the_loss_at_that_depth(weights, step):
    config = GATED.replace(weights=weights, step=step)
    program = Program.of(ELASTIC, config, Placement())
    parameters, _ = program.start(0)
    windows = jnp.asarray(np.random.default_rng(0).integers(0, 256, (4, 17)), jnp.uint8)

    def reference(parameters, steps):
        ids = windows.astype(jnp.int32)
        return program.model(parameters).compute_loss(ids[:, :-1], ids[:, 1:], steps=steps)

    for steps in (1, 4):
        found = jax.grad(program.loss)(parameters, windows, None, steps)
        expected = jax.grad(reference)(parameters, steps)
        for left, right in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(left, right, atol=1e-6)


def test_consistency_adds_the_drawn_path_and_its_distance_without_moving_the_long_one():
    recipe = dataclasses.replace(ELASTIC, consistency=0.1)
    program = Program.of(recipe, GATED, Placement())
    parameters, _ = program.start(0)
    windows = jnp.asarray(np.random.default_rng(0).integers(0, 256, (4, 17)), jnp.uint8)
    model, ids = program.model(parameters), windows.astype(jnp.int32)
    ends = {steps: model.hidden(ids[:, :-1], steps=steps)[0].array for steps in (2, 4)}
    losses = {steps: model.compute_loss(ids[:, :-1], ids[:, 1:], steps=steps) for steps in (2, 4)}
    expected = losses[2] + 0.1 * (losses[4] + np.mean((ends[4] - ends[2]) ** 2))
    assert program.loss(parameters, windows, None, 4) == pytest.approx(float(expected), rel=1e-5)
    assert program.loss(parameters, windows, None, 2) == pytest.approx(float(losses[2]), rel=1e-6)
