"""Losses against a plain computation, and costs against hand-worked counts."""

import math

import equinox as eqx
import numpy as np
import pytest

from tests.training.engine.tiny import TINY
from training.engine import evaluation as evaluate
from training.engine.costs import (
    flops_per_token,
    formula_flops_per_token,
    parameters_by_part,
    speed_of,
)
from training.engine.evaluation import Evaluator, TextLoss, count_characters
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
    monkeypatch.setattr(evaluate, "BYTES_PER_CALL", 3 * 16)  # several calls, the last one short
    text = np.random.default_rng(0).integers(0, 256, 16 * 7 + 5).astype(np.uint8)
    found = Evaluator(parts[1]).on_split(parts[0], text, 16)
    before = np.concatenate([[ord("\n")], text[:-1]])
    losses = [plain_losses(parts, before[at : at + 16], text[at : at + 16]) for at in range(0, len(text), 16)]
    assert found.num_bytes == len(text) == sum(map(len, losses))
    assert found.nats == pytest.approx(sum(map(np.sum, losses)), rel=1e-5)


def test_the_loss_of_windows_is_the_mean_over_all_but_their_first_bytes(parts, monkeypatch):
    monkeypatch.setattr(evaluate, "BYTES_PER_CALL", 2 * 16)
    windows = np.random.default_rng(1).integers(0, 256, (5, 17)).astype(np.uint8)
    found = Evaluator(parts[1]).on_windows(parts[0], windows)
    assert found.num_bytes == 80
    assert found.loss == pytest.approx(np.mean([plain_losses(parts, row[:-1], row[1:]) for row in windows]), rel=1e-5)


def test_measures_of_one_loss_agree():
    found = TextLoss(nats=100.0, num_bytes=50, num_characters=40)
    assert (found.loss, found.loss_per_character) == (2.0, 2.5)
    assert found.bits_per_byte == pytest.approx(2.0 / math.log(2))
    assert found.perplexity == pytest.approx(math.exp(2.0))


def test_characters_are_counted_where_they_start():
    assert count_characters(np.frombuffer("aé€😀".encode(), np.uint8)) == 4


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
