"""Tiny models of every kind, one record, and helpers that damage files."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
from safetensors.numpy import load_file

from tests.factories import fill
from tipshare import KINDS, LanguageModel, ModelConfig
from tipshare.checkpoint.checksums import FileSum, describe
from tipshare.checkpoint.container import read_header, write_file
from tipshare.checkpoint.reading import dump_json

SIZES = {
    "hidden_dim": 16,
    "num_heads": 2,
    "num_layers": 2,
    "time_dim": 4,
    "time_frequencies": 2,
    "state_dim": 4,
    "max_position_embeddings": 16,
}
# The input of every comparison of logits.
TOKENS = np.arange(12, dtype=np.int32) * 7
TINY: dict[str, ModelConfig] = {kind: config_class(**SIZES) for kind, config_class in KINDS.items()}


def build_tiny(kind: str, seed: int = 0) -> LanguageModel:
    return fill(TINY[kind], seed)


def equal_weights(left: LanguageModel, right: LanguageModel) -> bool:
    """Whether two models are the same to the last bit."""
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    same = all(a.dtype == b.dtype and np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)
    return same and jax.tree.structure(left) == jax.tree.structure(right)


def edit_json(path: Path, **changes: object) -> None:
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, **changes}))


def reseal(folder: Path) -> None:
    """Make checksums.json agree with what lies in the folder, as a careful forger would."""
    path = folder / "checksums.json"
    names = [name for name in json.loads(path.read_text())["files"] if (folder / name).exists()]
    sums = {}
    for name in names:
        content = (folder / name).read_bytes()
        sums[name] = FileSum(len(content), hashlib.sha256(content).hexdigest())
    path.write_bytes(dump_json(describe(sums)))


def rewrite_weights(folder: Path, change: Callable[[dict[str, np.ndarray]], None], **metadata: str) -> None:
    """Change the tensors (or the metadata) of model.safetensors and reseal the folder."""
    path = folder / "model.safetensors"
    tensors = dict(load_file(path))
    change(tensors)
    write_file(path, tensors, {**read_header(path).metadata, **metadata})
    reseal(folder)
