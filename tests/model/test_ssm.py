"""The selective state-space layer: fast scan against slow reference, and reading a text in pieces."""

import haliax as hax
import jax
import numpy as np
import pytest
from haliax import Axis

from tests.factories import GRID, build
from tipshare.model.ssm import scan_states, scan_states_reference

Batch, State = Axis("batch", 2), Axis("state", 3)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 13, 64, 100])
@pytest.mark.parametrize("with_initial", [False, True], ids=["from zero", "from a state"])
def test_parallel_scan_equals_sequential(length, with_initial):
    Position = Axis("position", length)
    k_decay, k_drive, k_initial = jax.random.split(jax.random.key(length), 3)
    decay = hax.random.uniform(k_decay, (Batch, Position, State))
    drive = hax.random.normal(k_drive, (Batch, Position, State))
    initial = hax.random.normal(k_initial, (Batch, State)) if with_initial else None
    fast = scan_states(decay, drive, initial)
    slow = scan_states_reference(decay, drive, initial)
    np.testing.assert_allclose(fast.array, slow.rearrange(fast.axes).array, atol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 11])
def test_gradients_of_the_parallel_scan_equal_those_of_the_sequential(length):
    Position = Axis("position", length)
    k_decay, k_drive, k_initial, k_weight = jax.random.split(jax.random.key(length), 4)
    decay = hax.random.uniform(k_decay, (Batch, Position, State))
    drive = hax.random.normal(k_drive, (Batch, Position, State))
    initial = hax.random.normal(k_initial, (Batch, State))
    weight = hax.random.normal(k_weight, (Batch, Position, State))

    def total(scan):
        return lambda *parts: hax.sum(scan(*parts) * weight).scalar()

    fast = jax.grad(total(scan_states), argnums=(0, 1, 2))(decay, drive, initial)
    slow = jax.grad(total(scan_states_reference), argnums=(0, 1, 2))(decay, drive, initial)
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a.array, b.array, atol=1e-5)


@pytest.mark.parametrize("cut", [1, 2, 5, 9])
def test_reading_a_text_in_two_pieces_equals_reading_it_at_once(cut):
    layer = build(GRID["time-indexed-ssm"]).at(0.5).mixer
    x = hax.random.normal(jax.random.key(3), (Batch, Axis("position", 10), Axis("embed", 16)))
    whole, end = layer.run(x, None)
    first, state = layer.run(x["position", :cut], None)
    second, end_of_second = layer.run(x["position", cut:], state)
    pieces = hax.concatenate("position", [first, second])
    np.testing.assert_allclose(pieces.array, whole.array, atol=1e-5)
    np.testing.assert_allclose(end_of_second.h.array, end.h.array, atol=1e-5)
    np.testing.assert_allclose(end_of_second.before.array, end.before.array, atol=1e-6)


def test_the_layer_is_selective():
    """The step size depends on the input: the same state decays at another rate under another text."""
    layer = build(GRID["time-indexed-ssm"]).at(0.5).mixer
    u = hax.random.normal(jax.random.key(4), (Axis("position", 6), Axis("channel", 16)))
    steps = layer.step_size(u).array
    assert steps.min() > 0
    assert np.ptp(np.asarray(steps), axis=0).max() > 1e-3
