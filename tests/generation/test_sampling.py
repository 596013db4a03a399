"""The choice of the next byte, against plain references."""

import jax
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipshare.generation.sampling import Choice, Sampling, choose, draw_uniform
from tipshare.text.tokenizer import BYTES
from tipshare.text.utf8 import BYTES_TO_COME, NEXT_STATE, complete_length

NOT_SEEN = np.zeros((1, 256), np.int32)
START = np.zeros(1, np.int32)
compiled_choose = jax.jit(choose)


def chosen_bytes(logits: np.ndarray, sampling: Sampling, draws: int = 400, counts: np.ndarray = NOT_SEEN) -> np.ndarray:
    """Choices from one distribution at evenly spaced places of it."""
    choice = Choice.of(sampling, BYTES)
    rows = np.broadcast_to(logits.astype(np.float32), (draws, 256))
    uniform = (np.arange(draws, dtype=np.float32) + 0.5) / draws
    start = np.zeros(draws, np.int32)
    return np.asarray(compiled_choose(rows, uniform, choice, np.repeat(counts, draws, 0), start, np.int32(9))[0])


def reference_survivors(logits: np.ndarray, sampling: Sampling) -> set[int]:
    """Top-k, then top-p among those, then min-p, by sorting."""
    scaled = logits.astype(np.float64) / sampling.temperature
    order = np.argsort(-scaled, kind="stable")[: sampling.top_k]
    probabilities = np.exp(scaled[order] - scaled[order[0]])
    probabilities /= probabilities.sum()
    before = np.cumsum(probabilities) - probabilities
    stays = (before < sampling.top_p) & (probabilities >= sampling.min_p * probabilities[0])
    return set(order[stays].tolist())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**31),
    st.floats(0.05, 5.0),
    st.integers(1, 300),
    st.floats(0.01, 1.0),
    st.floats(0.0, 1.0),
)
def test_only_survivors_of_the_cut_offs_are_chosen(seed, temperature, top_k, top_p, min_p):
    logits = np.random.default_rng(seed).normal(0.0, 3.0, 256).astype(np.float32)
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, utf8=False)
    chosen = set(chosen_bytes(logits, sampling).tolist())
    # A byte that only just fails a float comparison in the reference may pass it here.
    slack = sampling.replace(top_p=min(1.0, top_p + 1e-5), min_p=max(0.0, min_p - 1e-5))
    assert chosen <= reference_survivors(logits, slack)
    assert int(logits.argmax()) in chosen


def test_choices_follow_the_distribution():
    logits = np.full(256, -50.0)
    logits[[65, 66, 67]] = np.log([0.5, 0.3, 0.2])
    chosen = chosen_bytes(logits, Sampling(temperature=1.0), draws=1000)
    np.testing.assert_allclose(np.bincount(chosen, minlength=256)[[65, 66, 67]] / 1000, [0.5, 0.3, 0.2], atol=0.002)
    sharper = chosen_bytes(logits, Sampling(temperature=0.5), draws=1000)
    squares = np.array([0.25, 0.09, 0.04]) / 0.38
    np.testing.assert_allclose(np.bincount(sharper, minlength=256)[[65, 66, 67]] / 1000, squares, atol=0.002)


@pytest.mark.parametrize("temperature", [1e6, 1e-7, 1e-38])
def test_extreme_temperatures_are_uniform_or_certain(temperature):
    logits = np.zeros((1, 256), np.float32)
    logits[0, ord("a")] = 80.0
    found = chosen_bytes(logits, Sampling(temperature=temperature, utf8=False))
    assert len(np.unique(found)) > 100 if temperature > 1 else set(found.tolist()) == {ord("a")}


def test_temperature_zero_takes_the_most_probable_byte():
    logits = np.random.default_rng(0).normal(size=256)
    assert set(chosen_bytes(logits, Sampling(temperature=0.0, utf8=False)).tolist()) == {int(logits.argmax())}


def test_repetition_penalty_weakens_bytes_in_the_window():
    logits = np.full(256, -9.0)
    logits[[65, 66]] = [2.0, 1.5]
    seen = NOT_SEEN.copy()
    seen[0, 65] = 3
    greedy = Sampling(temperature=0.0)
    assert chosen_bytes(logits, greedy, 1, seen)[0] == 65
    assert chosen_bytes(logits, greedy.replace(repetition_penalty=1.5), 1, seen)[0] == 66


def test_random_numbers_depend_on_row_and_number_alone():
    keys = jr.split(jr.key(0), 3)
    together = draw_uniform(keys, np.arange(10))
    np.testing.assert_array_equal(together[4:7, 1], draw_uniform(keys[1:2], np.arange(4, 7))[:, 0])
    assert len(np.unique(together)) == 30


@pytest.mark.parametrize(
    ("setting", "values", "rule"),
    [
        ("temperature", [float("nan"), -0.1, float("inf"), True, 1e39], "a finite number, at least 0"),
        ("top_p", [0.0, -1.0, 1.1, float("nan")], "a finite number, above 0 and at most 1"),
        ("min_p", [-0.1, 1.5, float("nan")], "at least 0 and at most 1"),
        ("top_k", [0, -3, 2.5, True], "a whole number, at least 1"),
        ("max_bytes", [-1, 1_000_001, 1.5], "at least 0 and at most 1000000"),
        ("repetition_penalty", [0.0, -1.0, float("nan"), 1e-50], "at least 0.001"),
        ("seed", [-1, 2**63, "x"], "at least 0 and at most 9223372036854775807"),
        ("stop", ["", ("a", b""), 3], "stop"),
        ("temprature", [1.0], "the settings are"),
    ],
)
def test_bad_settings_are_refused_with_the_rule(setting, values, rule):
    for value in values:
        with pytest.raises(ValueError, match=rule):
            Sampling().replace(**{setting: value})


@settings(deadline=None)
@given(st.text())
def test_the_automaton_accepts_all_text(text):
    state = 0
    data = text.encode()
    for left, byte in zip(range(len(data) - 1, -1, -1), data, strict=True):
        assert BYTES_TO_COME[state, byte] <= left
        state = NEXT_STATE[state, byte]
    assert state == 0


@settings(deadline=None)
@given(st.binary(max_size=8))
def test_the_automaton_refuses_what_python_refuses(data):
    state, fits = 0, True
    for left, byte in zip(range(len(data) - 1, -1, -1), data, strict=True):
        fits &= bool(BYTES_TO_COME[state, byte] <= left)
        state = NEXT_STATE[state, byte]
    try:
        data.decode()
    except UnicodeDecodeError:
        assert not fits
    else:
        assert fits


@settings(deadline=None)
@given(st.text(min_size=1), st.data())
def test_unfinished_characters_are_found(text, data):
    cut = data.draw(st.integers(0, len(text.encode())))
    front = text.encode()[:cut]
    assert complete_length(front) == len(front.decode(errors="ignore").encode())
