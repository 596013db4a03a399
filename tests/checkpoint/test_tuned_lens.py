"""A tuned lens beside its checkpoint: trained, written, read back, and refused when it is damaged or not its own."""

import dataclasses
import json
import re

import equinox as eqx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import tipshare
from tests.app.models import SIZES, build_tiny_model
from tipshare import analysis
from tipshare.checkpoint import CheckpointError, open_checkpoint
from tipshare.checkpoint.tuned_lens import DESCRIPTION, LENS, has_lens, load_lens, save_lens
from training.data.corpus import load_corpus
from training.engine.tuned_lens import train_lens


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A checkpoint, and a lens that was trained for a few steps."""
    folder = tmp_path_factory.mktemp("lens") / "checkpoint"
    model = build_tiny_model("time-indexed-mlp")
    tipshare.save(model, folder)
    corpus = load_corpus("builtin")
    lens, training = train_lens(model, corpus, num_steps=30, batch_size=4, length=32, learning_rate=1e-2)
    return folder, lens, training


@pytest.fixture
def saved(trained, tmp_path):
    """A copy of the checkpoint with its lens beside it."""
    folder, lens, training = trained
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    save_lens(lens, open_checkpoint(tmp_path), training)
    return tmp_path


def test_training_brings_every_depth_closer_to_the_last(trained):
    _, lens, training = trained
    assert len(training.divergences_before) == SIZES["num_layers"] == lens.depth_steps
    for before, after in zip(training.divergences_before, training.divergences_after, strict=True):
        assert after < 0.9 * before
    with pytest.raises(ValueError, match="num_steps=0 must be a whole number, at least 1"):
        train_lens(build_tiny_model("standard"), load_corpus("builtin"), num_steps=0)


def test_a_saved_lens_reads_as_the_trained_one(trained, saved):
    checkpoint = open_checkpoint(saved)
    assert has_lens(saved)
    model, text = checkpoint.load(), "a text"
    expected = analysis.lens(model, text, tuned=trained[1])
    found = analysis.lens(model, text, tuned=load_lens(checkpoint))
    assert_allclose(found.divergences, expected.divergences)
    assert found.divergences[0].mean() != pytest.approx(analysis.lens(model, text).divergences[0].mean())
    assert json.loads((saved / DESCRIPTION).read_text())["training"]["corpus"] == "builtin"
    assert not [file.name for file in saved.iterdir() if file.name.endswith(".tmp")]


def test_a_lens_of_other_weights_is_refused(saved):
    tipshare.save(build_tiny_model("time-indexed-mlp", seed=1), saved)
    with pytest.raises(CheckpointError, match=f"{DESCRIPTION} is of a lens for other weights: train one"):
        load_lens(open_checkpoint(saved))


def change_lens(folder, **changes):
    fields = json.loads((folder / DESCRIPTION).read_text())
    fields["lens"] |= changes
    (folder / DESCRIPTION).write_text(json.dumps(fields))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / DESCRIPTION).unlink(), f"there is no {DESCRIPTION}"),
        (lambda folder: (folder / DESCRIPTION).write_text("[]"), "must be a JSON object"),
        (lambda folder: (folder / DESCRIPTION).write_text("{}"), "must have format_version 1"),
        (lambda folder: change_lens(folder, size="10"), f"{DESCRIPTION}: lens has no valid size"),
        (lambda folder: change_lens(folder, sha256=5), f"{DESCRIPTION}: lens has no valid sha256"),
        (lambda folder: (folder / LENS).write_bytes(b""), f"{LENS} is truncated: 0 bytes of"),
        (lambda folder: flip_last(folder / LENS), f"{LENS} is damaged or was changed: its sha256 is"),
        (lambda folder: (folder / LENS).unlink(), f"{LENS} is missing"),
    ],
)
def test_damage_is_noticed(saved, damage, message):
    checkpoint = open_checkpoint(saved)
    damage(saved)
    with pytest.raises(CheckpointError, match=re.escape(message)) as refused:
        load_lens(checkpoint)
    assert "checksums.json" not in str(refused.value)  # which does not list the lens


def flip_last(path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_a_lens_of_nan_is_not_written(trained, tmp_path):
    folder, lens, training = trained
    broken = eqx.tree_at(lambda each: each.bias, lens, replace_fn=lambda bias: bias * np.nan)
    with pytest.raises(ValueError, match="the tuned lens holds NaN or infinity"):
        save_lens(broken, open_checkpoint(folder), dataclasses.replace(training), tmp_path)
    assert not list(tmp_path.iterdir())
