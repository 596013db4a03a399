"""Losses against a plain computation, and costs against hand-worked counts."""

import math

import equinox as eqx
import haliax as hax
import jax
import numpy as np
import pytest

import tipshare
from tests.training.engine.tiny import TINY
from tipshare import Score
from tipshare.analysis import scoring
from training.engine.costs import (
    flops_per_token,
    formula_flops_per_token,
    parameters_by_part,
    speed_of,
)
from training.engine.evaluation import Evaluator
from training.engine.sharding import Placement
from training.engine.step import Program


@pytest.fixture(scope="module")
def parts():
    program = Program.of(TINY, TINY.configure("time-indexed-mlp")[1], Placement())
    return program.start(3)[0], program.static


@eqx.filter_jit
def run(model, tokens):
    return model(tokens)


def plain_losses(parts, inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    logits = np.asarray(run(eqx.combine(*parts), inputs[None].astype(np.int32)).array[0], np.float64)
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -log_probs[np.arange(len(targets)), targets]


def test_the_loss_of_a_split_scores_every_byte_once(parts, monkeypatch):
    monkeypatch.setattr(scoring, "TOKENS_PER_CALL", 3 * 16)  # several calls, the last one short
    text = np.random.default_rng(0).integers(0, 256, 16 * 7 + 5).astype(np.uint8)
    found = Evaluator(parts[1]).on_split(parts[0], text, 16)
    before = np.concatenate([[ord("\n")], text[:-1]])
    losses = [plain_losses(parts, before[at : at + 16], text[at : at + 16]) for at in range(0, len(text), 16)]
    assert found.num_bytes == len(text) == sum(map(len, losses))
    assert found.nats == pytest.approx(sum(map(np.sum, losses)), rel=1e-5)
    other = Evaluator(parts[1]).on_split(parts[0], text, 16, steps=5)
    assert other.loss == pytest.approx(eqx.combine(*parts).score(text.tobytes(), stride=16, steps=5).loss, abs=1e-6)
    assert abs(other.loss - found.loss) > 1e-6


def test_the_loss_of_windows_is_the_mean_over_all_but_their_first_bytes(parts, monkeypatch):
    monkeypatch.setattr(scoring, "TOKENS_PER_CALL", 2 * 16)
    windows = np.random.default_rng(1).integers(0, 256, (5, 17)).astype(np.uint8)
    found = Evaluator(parts[1]).on_windows(parts[0], windows)
    assert found.num_bytes == 80
    assert found.loss == pytest.approx(np.mean([plain_losses(parts, row[:-1], row[1:]) for row in windows]), rel=1e-5)


def test_measures_of_one_score_agree():
    found = Score(np.full(50, -2.0, np.float32), num_bytes=50, num_characters=40)
    assert (found.nats, found.loss, found.loss_per_character) == (100.0, 2.0, 2.5)
    assert found.bits_per_byte == pytest.approx(2.0 / math.log(2))
    assert found.perplexity == pytest.approx(math.exp(2.0))


def test_characters_are_counted_where_they_start(parts):
    text = np.frombuffer("aé€😀".encode(), np.uint8)
    found = Evaluator(parts[1]).on_split(parts[0], text, 16)
    assert (found.num_bytes, found.num_characters) == (10, 4)


def test_numbers_of_records_are_summed_from_full_batches_to_the_last_bit(parts):
    length, rows = 16, 8_192 // 16
    text = np.random.default_rng(2).integers(0, 256, rows * length * 2 + 77).astype(np.uint8)

    @jax.jit
    def losses_of(parameters, windows):
        model, ids = eqx.combine(parameters, parts[1]), windows.astype(np.int32)
        log_probs = jax.nn.log_softmax(model(hax.named(ids[:, :-1], ("batch", "position"))).array)
        return -jax.numpy.take_along_axis(log_probs, ids[:, 1:, None], -1)[..., 0]

    padded = np.zeros(3 * rows * length + 1, np.uint8)
    padded[0], padded[1 : len(text) + 1] = ord("\n"), text
    windows = padded[np.arange(3 * rows)[:, None] * length + np.arange(length + 1)]
    losses = np.concatenate([losses_of(parts[0], windows[at : at + rows]) for at in range(0, 3 * rows, rows)])
    evaluator = Evaluator(parts[1])
    assert evaluator.on_split(parts[0], text, length).nats == losses.reshape(-1)[: len(text)].sum(dtype=np.float64)
    fixed = evaluator.on_windows(parts[0], windows[: 2 * rows - 3])
    assert fixed.loss == losses[: 2 * rows - 3].sum(dtype=np.float64) / fixed.num_bytes


def test_windows_and_splits_share_one_compilation(parts):
    evaluator = Evaluator(parts[1])
    text = np.arange(100, dtype=np.uint8)
    evaluator.on_split(parts[0], text, 16)
    evaluator.on_split(parts[0], text[:7], 16)
    evaluator.on_windows(parts[0], text[:51].reshape(3, 17))
    assert evaluator._losses._cache_size() == 1


def test_a_model_scores_a_text_as_its_evaluation_does(parts):
    data = np.random.default_rng(3).integers(0, 256, 16 * 9 + 5).astype(np.uint8)
    found = Evaluator(parts[1]).on_split(parts[0], data, 16)
    model = eqx.combine(*parts)
    assert model.score(data.tobytes(), stride=16).loss == pytest.approx(found.loss, abs=1e-6)
    assert abs(model.score(data.tobytes()).loss - found.loss) > 1e-6  # overlapping windows know more


@pytest.mark.parametrize("kind", ["standard", "time-indexed-ssm"])
def test_a_bundled_checkpoint_scores_a_text_as_its_card_does(kind):
    model = tipshare.load(kind, dtype="float32")  # in bfloat16 the shape of a batch moves the last bits
    context = model.config.max_position_embeddings
    text = (" The tower was built in 1889 , and is 324 m tall . \n" * 12)[: 2 * context + 40].encode()
    parameters, static = eqx.partition(model, eqx.is_array)
    found = Evaluator(static).on_split(parameters, np.frombuffer(text, np.uint8), context)
    assert model.score(text, stride=context).bits_per_byte == pytest.approx(found.bits_per_byte, abs=1e-6)


def test_flops_by_formula_and_by_xla_agree_and_grow_with_depth():
    config = TINY.configure("standard")[1].replace(hidden_dim=32, num_layers=3)
    # qkv 3, output 1, MLP up and down 4 each, in units of 32 x 32; then the head, then attention's two products.
    by_hand = 2 * (3 * 12 * 32 * 32 + 32 * 256) + 4 * 3 * 16 * 32
    assert formula_flops_per_token(config, 16) == by_hand
    found = flops_per_token(config, 4, 16)
    assert found["forward_per_token"] == pytest.approx(by_hand, rel=0.15)  # norms, softmax and activations on top
    assert found["training_per_token"] == pytest.approx(3 * by_hand, rel=0.15)
    assert found["forward_per_token"] > by_hand


def test_parameters_add_up():
    counts = parameters_by_part(TINY.configure("time-indexed-ssm")[1])
    parts = ("embedding", "block", "gates", "generators", "head")
    assert sum(counts[part] for part in parts) == counts["total"]
    assert 0 < counts["effective"] < counts["total"]


def test_speed_is_a_median_with_its_spread():
    speed = speed_of([0.01, 0.02, 0.03, 0.04, 1.0], 5.0, TINY)
    assert speed == {
        "compile_seconds": 5.0,
        "step_ms": pytest.approx(30.0),
        "step_ms_spread": pytest.approx(10.0),
        "tokens_per_second": pytest.approx(4 * 16 / 0.03),
    }
    assert speed_of([], 5.0, TINY) == {"compile_seconds": 5.0}
