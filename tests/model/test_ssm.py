"""The selective state-space layer: fast scan against slow reference, and reading a text in pieces."""

import haliax as hax
import jax
import jax.random as jr
import numpy as np
import pytest
from haliax import Axis, NamedArray

from tests.factories import GRID, build
from tipshare.model.ssm import scan_states
from tipshare.model.weights.generated import time_unit_scale

Batch, State = Axis("batch", 2), Axis("state", 3)


def scan_one_by_one(decay: NamedArray, drive: NamedArray, initial: NamedArray | None = None) -> NamedArray:
    """The recurrence of `scan_states`, one position after the other."""
    Position = decay.resolve_axis("position")
    h = hax.zeros_like(decay["position", 0]) if initial is None else initial
    path = []
    for position in range(Position.size):
        h = decay["position", position] * h + drive["position", position]
        path.append(h)
    return hax.stack(Position, path)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 13, 64, 100])
@pytest.mark.parametrize("with_initial", [False, True], ids=["from zero", "from a state"])
def test_parallel_scan_equals_sequential(length, with_initial):
    Position = Axis("position", length)
    k_decay, k_drive, k_initial = jax.random.split(jax.random.key(length), 3)
    decay = hax.random.uniform(k_decay, (Batch, Position, State))
    drive = hax.random.normal(k_drive, (Batch, Position, State))
    initial = hax.random.normal(k_initial, (Batch, State)) if with_initial else None
    fast = scan_states(decay, drive, initial)
    slow = scan_one_by_one(decay, drive, initial)
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
    slow = jax.grad(total(scan_one_by_one), argnums=(0, 1, 2))(decay, drive, initial)
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


@pytest.mark.parametrize("name", ["state space that does not depend on the input", "published time-indexed-ssm"])
def test_a_time_invariant_state_space_is_a_convolution_with_its_own_kernel(name):
    model = build(GRID[name])
    ssm, length = model.at(1.0).mixer, 10
    u = np.random.default_rng(0).standard_normal((length, ssm.into_state.In[0].size)).astype(np.float32)
    named = hax.named(u, ("position", "channel"))
    delta, rate = ssm.step_size(named).array, ssm.rate().array
    into, out = (layer.effective_weight for layer in (ssm.into_state, ssm.from_state))
    into, out = into.rearrange(("channel", "state")).array, out.rearrange(("state", "channel")).array
    # kernel[j] maps the input of j positions ago to the output: delta B exp(j delta A) C
    kernel = [(into * delta * np.exp(j * delta * rate)) @ out for j in range(length)]
    expected = sum(
        np.concatenate([np.zeros((j, u.shape[1])), u[: length - j] @ kernel[j]]) for j in range(length)
    ) + np.asarray(ssm.skip(named).array)
    drive = ssm.step_size(named) * ssm.into_state(named)
    decay = hax.exp(ssm.step_size(named) * ssm.rate()).broadcast_to(drive.axes)
    found = ssm.from_state(scan_states(decay, drive)) + ssm.skip(named)
    np.testing.assert_allclose(found.rearrange(("position", "channel")).array, expected, atol=1e-5)
    if not model.config.ssm_projections:
        whole, _ = ssm.run(named.rename({"channel": "embed"}))
        np.testing.assert_allclose(whole.rearrange(("position", "embed")).array, expected, atol=1e-5)


def test_a_state_space_that_does_not_depend_on_the_input_is_linear_in_it():
    ssm = build(GRID["published time-indexed-ssm"]).at(0.5).mixer
    x, y = (hax.random.normal(jr.key(seed), (Axis("position", 7), Axis("embed", 16))) for seed in (0, 1))
    whole, parts = ssm.run(x + 2.0 * y)[0], ssm.run(x)[0] + 2.0 * ssm.run(y)[0]
    np.testing.assert_allclose(whole.array, parts.rearrange(whole.axes).array, atol=1e-5)
    selective = build(GRID["bare state space"]).at(0.5).mixer
    whole, parts = selective.run(x + 2.0 * y)[0], selective.run(x)[0] + 2.0 * selective.run(y)[0]
    assert not np.allclose(whole.array, parts.rearrange(whole.axes).array, atol=1e-3)


def test_published_values_are_generated_times_a_full_gate():
    config = GRID["published time-indexed-ssm"]
    model = build(config)
    time = model.time(hax.named(np.float32(0.5), ()), model.steps)
    mixer = model.block.mixer
    units, found = mixer.network(time), model.at(0.5).mixer
    hidden = mixer.network.first(time)
    expected_units = mixer.network.second(hax.nn.silu(hidden) * time_unit_scale(mixer.network.first.Out[0]))
    np.testing.assert_allclose(units.array, expected_units.array, atol=1e-6)

    def parts(slot):
        layer = mixer.layers[slot]
        (array,) = layer.arrays.values()
        return array.at(units).array, np.asarray(layer.gate(time).array)

    generated, gate = parts("into_state")
    assert gate.shape == generated.shape == (config.hidden_dim, config.state_dim)
    np.testing.assert_allclose(found.into_state.weight.array, generated * gate, atol=1e-6)
    generated, gate = parts("rate")
    np.testing.assert_allclose(found.rate().array, -np.logaddexp(0, generated) * gate, atol=1e-6)
    generated, gate = parts("step_size")
    delta = found.step_size(hax.zeros(Axis("channel", 16))).array
    np.testing.assert_allclose(delta, (np.logaddexp(0, generated) + 1e-4) * gate, atol=1e-6)
