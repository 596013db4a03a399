"""Tiny checkpoints of the four kinds, as files that the demo is started on."""

import dataclasses
from pathlib import Path

import tipshare
from tests.models import fill
from tests.training.factory import make_record, published_records
from training.records import write_records

SIZES = {
    "hidden_dim": 32,
    "num_heads": 2,
    "num_layers": 2,
    "max_position_embeddings": 64,
    "state_dim": 8,
    "time_frequencies": 4,
    "time_dim": 8,
}


def save_tiny_model(kind: str, folder: Path, *, seed: int = 0) -> None:
    """A checkpoint with random weights and a record as training writes it."""
    config = tipshare.KINDS[kind](**SIZES)
    counts = {
        "total": tipshare.count_parameters(config).total,
        "effective": tipshare.count_parameters(config, frozen=True).total,
    }
    record = make_record(kind, seed=seed, loss=2.0, config=SIZES, parameters=counts)
    tipshare.save(fill(config, seed), folder, record=dataclasses.asdict(record))


def save_tiny_models(folder: Path) -> Path:
    """A checkpoint per kind, and records of five seeds beside them; returns the folder."""
    for kind in tipshare.KINDS:
        save_tiny_model(kind, folder / kind)
    write_records(published_records(), folder / "runs.jsonl")
    return folder
