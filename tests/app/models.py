"""Tiny checkpoints of the four kinds, as files that the demo is started on."""

import dataclasses
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import tipshare
from tests.factories import fill
from tests.training.results.factory import make_record, published_records
from training.results.records import write_records

SIZES = {
    "hidden_dim": 32,
    "num_heads": 2,
    "num_layers": 2,
    "max_position_embeddings": 64,
    "state_dim": 8,
    "time_frequencies": 4,
    "time_dim": 8,
    "gate_start": 2.0,
}


def build_tiny_model(kind: str, *, seed: int = 0, **changes: Any) -> tipshare.LanguageModel:
    """A model with random weights that nearly always writes printable ASCII, which any browser has a font for."""
    model = fill(tipshare.KINDS[kind](**{**SIZES, **changes}), seed)
    side = np.full(256, -1.0, np.float32)
    side[32:127] = 1.0
    # One unit of the last norm is always large, and the head reads from it whether a byte is printable.
    bias = model.final_norm.bias.array.at[0].add(8.0)
    weight = model.head.weight.rearrange(("embed", "vocab"))
    weight = dataclasses.replace(weight, array=weight.array.at[0].add(jnp.asarray(side)))
    return eqx.tree_at(
        lambda it: (it.final_norm.bias, it.head.weight),
        model,
        (dataclasses.replace(model.final_norm.bias, array=bias), weight.rearrange(model.head.weight.axes)),
    )


def save_tiny_model(kind: str, folder: Path, *, seed: int = 0) -> None:
    """A checkpoint with random weights and a record as training writes it."""
    config = tipshare.KINDS[kind](**SIZES)
    counts = {
        "total": tipshare.count_parameters(config).total,
        "effective": tipshare.count_parameters(config, frozen=True).total,
    }
    record = make_record(kind, seed=seed, loss=2.0, config=SIZES, parameters=counts)
    tipshare.save(build_tiny_model(kind, seed=seed), folder, record=dataclasses.asdict(record))


def save_tiny_models(folder: Path) -> Path:
    """A checkpoint per kind, and records of five seeds beside them; returns the folder."""
    for kind in tipshare.KINDS:
        save_tiny_model(kind, folder / kind)
    write_records(published_records(), folder / "runs.jsonl")
    return folder
