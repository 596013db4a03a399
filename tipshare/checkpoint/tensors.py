"""Which tensors a checkpoint must hold: those of the model that its config describes, no more and no less."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.random as jr

from tipshare.checkpoint.checksums import FileSum, read_checked
from tipshare.checkpoint.config_file import StoredConfig
from tipshare.checkpoint.container import Header, read_header
from tipshare.checkpoint.layout import (
    CHECKSUMS,
    CONFIG,
    FORMAT,
    FORMAT_VERSION,
    INDEX,
    SHARD_NAME,
    WEIGHTS,
    CheckpointError,
)
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.reading import parse_json
from tipshare.config import ModelConfig
from tipshare.model.language_model import LanguageModel


def read_headers(folder: Path, sums: dict[str, FileSum], kind: str) -> dict[str, Header]:
    """The headers of all weights files, which must be of a model of that kind and agree with the index."""
    places = _read_index(folder, sums)
    headers = {name: read_header(folder / name) for name in sorted(set(places.values()) if places else {WEIGHTS})}
    for name, header in headers.items():
        expected = {"format": FORMAT, "format_version": str(FORMAT_VERSION), "kind": kind}
        for key, value in expected.items():
            found = header.metadata.get(key)
            if found != value:
                raise CheckpointError(f"{name}: {key} is {found!r:.80} in its metadata, not {value!r}")
        wrong = set(header.tensors) ^ {tensor for tensor, place in places.items() if place == name}
        if places and wrong:
            raise CheckpointError(f"{INDEX} and {name} disagree about {min(wrong)!r:.80}")
    return headers


def _read_index(folder: Path, sums: dict[str, FileSum]) -> dict[str, str]:
    """The file of every tensor; empty if all weights are in one file."""
    listed = {name for name in sums if SHARD_NAME.fullmatch(name)}
    if INDEX not in sums:
        if listed or WEIGHTS not in sums:
            raise CheckpointError(f"{CHECKSUMS} lists neither {WEIGHTS} alone nor {INDEX} with its files")
        return {}
    if WEIGHTS in sums:
        raise CheckpointError(f"{CHECKSUMS} lists both {WEIGHTS} and {INDEX}: it must be one of them")
    places = parse_json(read_checked(folder, INDEX, sums), INDEX).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise CheckpointError(f"{INDEX} needs a weight_map from tensors to files")
    for tensor, name in places.items():
        if not isinstance(name, str) or not SHARD_NAME.fullmatch(name):
            raise CheckpointError(
                f"{INDEX} puts {tensor!r:.80} into {name!r:.80}, which is not a weights file of this folder"
            )
    if set(places.values()) != listed:
        wrong = sorted(set(places.values()) ^ listed)
        raise CheckpointError(f"{INDEX} and {CHECKSUMS} disagree about {', '.join(wrong)[:200]}")
    return places


def check_model(stored: StoredConfig, headers: dict[str, Header]) -> LanguageModel:
    """The shapes of the model that the config describes, if the files hold exactly its tensors."""
    entries = [entry for header in headers.values() for entry in header.tensors.values()]
    _check_plausible(stored.model, sum(entry.end - entry.start for entry in entries) // stored.dtype.itemsize)
    shapes = _model_shapes(stored.model)
    check_tensors(headers, name_tensors(shapes), f"a {stored.model.kind}", CONFIG)
    for name, header in headers.items():
        for tensor, entry in header.tensors.items():
            if entry.dtype != stored.dtype:
                raise CheckpointError(
                    f"{name}: {tensor!r} is {entry.dtype.name}, but {CONFIG} says {stored.dtype.name}"
                )
    return shapes


def check_tensors(headers: dict[str, Header], expected: dict[str, Any], whole: str, described_by: str) -> None:
    """CheckpointError unless the files hold exactly the expected tensors in their shapes.

    Args:
        whole: What the tensors are parts of, and `described_by` the file that says so; for the messages.
    """
    places = {tensor: name for name, header in headers.items() for tensor in header.tensors}
    if len(places) != sum(len(header.tensors) for header in headers.values()):
        raise CheckpointError("a tensor is in two weights files")
    missing, extra = sorted(set(expected) - set(places)), sorted(set(places) - set(expected))
    if missing or extra:
        which = f"{missing[0]!r} is missing" if missing else f"{extra[0]!r:.120} is not part of {whole}"
        count = len(missing) + len(extra)
        raise CheckpointError(f"{', '.join(headers)}: tensor {which} ({count} in all do not fit {described_by})")
    for tensor, name in places.items():
        shape, wanted = list(headers[name].tensors[tensor].shape), list(expected[tensor].shape)
        if shape != wanted:
            raise CheckpointError(
                f"{name}: {tensor!r} has shape {str(shape)[:80]}, but {described_by} makes it {wanted}"
            )


def _check_plausible(config: ModelConfig, count: int) -> None:
    """Refuse sizes that the files cannot hold, before shapes are computed."""
    # Every kind stores these matrices whole, whatever else it has.
    least = config.hidden_dim * (2 * config.vocab_size + 4 * config.hidden_dim)
    if least > count:
        raise CheckpointError(
            f"{CONFIG}: hidden_dim={config.hidden_dim} and vocab_size={config.vocab_size} need at least {least:,} "
            f"parameters, but the weights files hold {count:,}"
        )


@lru_cache(maxsize=16)  # tracing a model takes longer than all other checks
def _model_shapes(config: ModelConfig) -> LanguageModel:
    """The model with shapes in the place of arrays."""
    try:
        return eqx.filter_eval_shape(config.build, key=jr.key(0))
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise CheckpointError(f"{CONFIG}: no model can be built from it: {str(error)[:200]}") from error
