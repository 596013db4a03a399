"""What a model promises besides causality and gradients: precision, dropout, scoring, and words for bad input."""

import math

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tipshare
from tests.factories import GRID, SMALL, TARGETS, TOKENS, build, each_kind, logits_of, random_tokens
from tipshare.analysis.scoring import window_starts


@each_kind
def test_bfloat16_stays_close_to_float32(config):
    model = build(config)
    exact, rough = logits_of(model, TOKENS), logits_of(model.astype(jnp.bfloat16), TOKENS)
    assert rough.dtype == jnp.float32
    assert np.abs(exact - rough).max() < 0.05 * np.abs(exact).max()
    assert np.abs(exact - rough).max() > 0


def loss_of(model, key) -> float:
    return float(eqx.filter_jit(type(model).compute_loss)(model, TOKENS, TARGETS, key=key))


@each_kind
def test_dropout_needs_a_key_and_is_off_without(config):
    rates = {"attn_pdrop": 0.3, "resid_pdrop": 0.3, "embd_pdrop": 0.3}
    dropping = build(config.replace(**rates))
    np.testing.assert_array_equal(logits_of(dropping, TOKENS), logits_of(build(config), TOKENS))
    first, again, other, off = (loss_of(dropping, jax.random.key(n) if n else None) for n in (1, 1, 2, 0))
    assert first == again
    assert len({first, other, off}) == 3


@pytest.mark.parametrize("name", ["attn_pdrop", "resid_pdrop", "embd_pdrop"])
def test_each_dropout_acts_alone(name):
    model = build(GRID["standard"].replace(**{name: 0.5}))
    assert loss_of(model, jax.random.key(1)) != loss_of(model, None)


def test_depth_steps_drop_different_units():
    """One mask for all depths would be dropout of a smaller model."""
    model = build(tipshare.TimeIndexedMlpConfig(resid_pdrop=0.5, time="constant", **SMALL))
    _, path = model.hidden(TOKENS[:1], key=jax.random.key(1), keep_path=True)
    change = path["depth", 1] - path["depth", 0], path["depth", 2] - path["depth", 1]
    zero = [np.asarray(each.array) == 0 for each in change]
    assert (zero[0] != zero[1]).any()


def test_loss_equals_cross_entropy_by_hand():
    model = build(GRID["standard"])
    logits = np.asarray(logits_of(model, TOKENS), np.float64)
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    by_hand = -np.take_along_axis(log_probs, TARGETS[..., None], -1).mean()
    assert float(model.compute_loss(TOKENS, TARGETS)) == pytest.approx(by_hand, abs=1e-5)


def test_named_and_plain_tokens_give_the_same_logits():
    model = build(GRID["time-indexed-mlp"])
    named = model(hax.named(TOKENS, ("batch", "position")))
    assert [axis.name for axis in named.axes] == ["batch", "position", "vocab"]
    np.testing.assert_allclose(model(TOKENS).array, named.array, atol=1e-6)
    np.testing.assert_allclose(model(TOKENS[0]).array, named.array[0], atol=1e-5)
    np.testing.assert_allclose(model(TOKENS[0].tolist()).array, named.array[0], atol=1e-5)


def test_the_path_through_depth_ends_where_the_pass_ends():
    model = build(GRID["time-indexed-ssm"])
    end, path = model.hidden(TOKENS, keep_path=True)
    assert path.axis_size("depth") == model.steps
    np.testing.assert_array_equal(path["depth", -1].array, end.array)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (np.zeros((2, 3), np.float32), "token ids are integers"),
        (np.zeros((2, 3, 4), int), "3 dimensions"),
        (np.zeros((1, 13), int), "13 positions"),
        (np.zeros((1, 0), int), "0 positions"),
        (np.array([0, 256]), r"0 \.\. 255"),
        (np.array([-1, 3]), r"0 \.\. 255"),
        (hax.named(np.zeros(3, int), "time"), "axis named 'position'"),
    ],
)
def test_bad_tokens_are_refused_in_words(tokens, message):
    with pytest.raises(ValueError, match=message):
        build(GRID["time-indexed-mlp"])(tokens)


def test_targets_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="they must be equal"):
        build(GRID["standard"]).compute_loss(TOKENS, TARGETS[:1])


@each_kind
def test_score_gives_the_log_probability_of_every_byte(config):
    model = build(config)
    text = "Ünï\n"
    ids = np.frombuffer(text.encode(), np.uint8)
    score = model.score(text)
    assert score.log_probs.shape == (len(ids),)
    logits = logits_of(model, np.concatenate([[ord("\n")], ids[:-1]])[None])[0]
    expected = jax.nn.log_softmax(logits)[np.arange(len(ids)), ids]
    np.testing.assert_allclose(score.log_probs, expected, atol=1e-4)
    assert score.loss == pytest.approx(-float(np.mean(expected)), abs=1e-4)
    assert score.bits_per_byte == pytest.approx(score.loss / math.log(2))
    assert score.perplexity == pytest.approx(math.exp(score.loss))


def test_long_texts_are_scored_in_overlapping_windows():
    model = build(GRID["standard"])  # context 12
    text = bytes(random_tokens(300, seed=5).tolist())
    log_probs = model.score(text).log_probs
    assert log_probs.shape == (300,)
    inputs = np.frombuffer(b"\n" + text[:-1], np.uint8).astype(int)
    # Byte 200 is predicted by the first window that reaches it, from at least half a context.
    start = next(s for s in window_starts(300, 12, 6) if s + 12 > 200)
    assert 200 - start >= 6
    logits = logits_of(model, inputs[None, start : start + 12])[0, 200 - start]
    assert log_probs[200] == pytest.approx(float(jax.nn.log_softmax(logits)[text[200]]), abs=1e-4)
    np.testing.assert_allclose(model.score(text[:12]).log_probs, log_probs[:12], atol=1e-5)


def test_an_empty_text_has_no_score():
    with pytest.raises(ValueError, match="empty text"):
        build(GRID["standard"]).score("")
    with pytest.raises(ValueError, match="one per byte"):
        build(tipshare.StandardConfig(**{**SMALL, "vocab_size": 100})).score("a")
