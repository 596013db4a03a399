"""The checkpoints that come with the project."""

import math
from pathlib import Path

import pytest

import tipshare
from tipshare.checkpoint import open_checkpoint
from tipshare.config import KINDS
from training.publish.bundle import LARGEST_BUNDLE, LARGEST_FLOAT32
from training.results.records import read_records

# Names, shapes and places of the tensors of a file.
HEADER = 20_000

FOLDER = Path(__file__).parents[2] / "checkpoints"
TEXT = "The tower is 324 metres tall , about the same height as an 81 @-@ storey building . \n"

each_kind = pytest.mark.parametrize("kind", KINDS)


def test_there_is_one_of_each_kind_and_they_are_small():
    assert set(KINDS) <= set(tipshare.list_bundled())
    sizes = {path: path.stat().st_size for path in FOLDER.rglob("*.safetensors")}
    assert sum(sizes.values()) <= LARGEST_BUNDLE + len(sizes) * HEADER
    for path, size in sizes.items():
        assert size <= LARGEST_FLOAT32 + HEADER or str(open_checkpoint(path.parent).dtype) == "bfloat16"


@each_kind
def test_every_byte_is_as_it_was_written_and_the_run_is_among_the_records(kind):
    checkpoint = open_checkpoint(kind)
    checkpoint.verify()
    assert checkpoint.record in read_records(FOLDER / "runs.jsonl")
    assert checkpoint.record.recipe == "showcase"
    assert [header.metadata["record"] for header in checkpoint.headers.values()] == [checkpoint.record.id]


def test_all_saw_the_same_bytes():
    records = [open_checkpoint(kind).record for kind in KINDS]
    for field in ("data", "seed", "num_steps", "tokens_seen"):
        assert all(getattr(record, field) == getattr(records[0], field) for record in records), field


@each_kind
def test_the_model_has_learned_english(kind):
    """An untrained model needs eight bits a byte, and one that knows only how often each letter comes about four."""
    loss = open_checkpoint(kind).record.final["valid_loss"]
    assert tipshare.load(kind).score(TEXT).loss == pytest.approx(loss, abs=0.7)
    assert loss < 2.5 * math.log(2)
