"""Scores in windows: every byte once, from the bytes its window has before it, at the cost of the text alone."""

import jax
import numpy as np
import pytest

import tipshare
from tests.factories import GRID, SMALL, build, logits_of, random_tokens
from tipshare import analysis
from tipshare.analysis import scoring
from tipshare.text.tokenizer import BYTES

CONTEXT = SMALL["max_position_embeddings"]
TEXT = bytes(random_tokens(50, seed=5).tolist())


@pytest.mark.parametrize("stride", [1, 5, 6, CONTEXT])
def test_a_byte_is_predicted_by_the_first_window_that_reaches_it(stride):
    model = build(GRID["standard"])
    ids = np.array([BYTES.begin, *TEXT])
    expected, start = [], 0
    for number in range(len(TEXT)):
        start += stride if number >= start + CONTEXT else 0
        window = np.pad(ids[start : number + 1], (0, CONTEXT - (number + 1 - start)))  # one shape for all
        logits = logits_of(model, window[None])[0, number - start]
        expected.append(jax.nn.log_softmax(logits)[TEXT[number]])
    found = model.score(TEXT, stride=stride)
    np.testing.assert_allclose(found.log_probs, expected, atol=1e-4)
    if stride == CONTEXT // 2:
        np.testing.assert_array_equal(found.log_probs, model.score(TEXT).log_probs)


def test_a_score_may_have_other_depth_steps():
    model = build(GRID["time-indexed-ssm"])
    found = model.score(TEXT, steps=5).log_probs
    np.testing.assert_allclose(found, model.freeze(5).score(TEXT).log_probs, atol=1e-4)
    assert np.abs(found - model.score(TEXT).log_probs).max() > 1e-3


def test_a_numpy_number_of_depth_steps_is_a_number():
    model = build(GRID["time-indexed-ssm"])
    for steps in np.arange(2, 4):
        assert model.score("ab", steps=steps).loss == model.score("ab", steps=int(steps)).loss
        assert (analysis.hidden_states(model, "ab", steps) == analysis.hidden_states(model, "ab", int(steps))).all()
        assert analysis.unit_values(model, steps).t.size == analysis.ssm_poles(model, "ab", steps).t.size == steps


def test_the_perplexity_of_any_loss_is_a_number():
    assert np.isfinite(tipshare.Score(np.array([-800.0], np.float32), 1, 1).perplexity)


@pytest.mark.parametrize("stride", [0, CONTEXT + 1, 2.0, True])
def test_a_stride_lies_within_the_context(stride):
    with pytest.raises(ValueError, match=f"stride={stride} must be a whole number, at least 1 and at most {CONTEXT}"):
        build(GRID["standard"]).score("a", stride=stride)


@pytest.mark.parametrize(
    ("length", "context", "shape"),
    [
        (1, 65_536, (1, 2)),
        (100, 65_536, (1, 129)),
        (12, 12, (1, 13)),
        (40, 12, (8, 13)),
        (9_000, 12, (682, 13)),  # several calls of as many rows as one call takes
    ],
)
def test_a_short_text_is_scored_in_a_small_shape(monkeypatch, length, context, shape):
    model = build(tipshare.StandardConfig(**{**SMALL, "max_position_embeddings": context}))
    shapes = []

    def record(model, windows, steps, solver):
        shapes.append(windows.shape)
        return np.zeros((windows.shape[0], windows.shape[1] - 1), np.float32)

    monkeypatch.setattr(scoring, "_compiled", record)
    assert model.score(b"a" * length).log_probs.shape == (length,)
    assert set(shapes) == {shape}


def test_a_model_with_a_long_context_scores_a_byte():
    model = build(tipshare.StandardConfig(**{**SMALL, "max_position_embeddings": 65_536}))
    logits = logits_of(model, np.array([[BYTES.begin]]))[0, 0]
    assert model.score("a").log_probs[0] == pytest.approx(float(jax.nn.log_softmax(logits)[ord("a")]), abs=1e-4)
