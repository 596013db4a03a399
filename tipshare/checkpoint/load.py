"""Read a checkpoint folder: check all of it, then use the weights in place."""

import hashlib
import logging
import mmap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.random as jr
import numpy as np

from tipshare.checkpoint import config_file
from tipshare.checkpoint.checksums import FileSum, check_sha256, read_sums, verifying
from tipshare.checkpoint.container import Header, is_finite, read_header, view_tensor
from tipshare.checkpoint.errors import CheckpointError
from tipshare.checkpoint.layout import (
    CHECKSUMS,
    CONFIG,
    FORMAT,
    FORMAT_VERSION,
    INDEX,
    LARGEST_JSON,
    RECORD,
    SHARD_NAME,
    WEIGHTS,
)
from tipshare.checkpoint.locate import Location, Origin, locate
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.record import RunRecord
from tipshare.checkpoint.regular_files import map_file, read_file
from tipshare.checkpoint.save import check_dtype
from tipshare.checkpoint.strict_json import parse_json
from tipshare.config import ModelConfig
from tipshare.model.language_model import LanguageModel

logger = logging.getLogger(__name__)


def load(
    name: str | Path,
    *,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    token: str | bool | None = None,
    dtype: Any = None,
    verify: bool = True,
) -> LanguageModel:
    """The model of a checkpoint folder, of a bundled checkpoint, or of a Hub repository.

    Args:
        name: A folder; or one of `tipshare.list_bundled()`; or a repository id such as "organisation/name".
        revision: Branch, tag or commit on the Hub.
        cache_dir: Where the Hub client keeps downloads; None for its usual place.
        token: Access token for private repositories; None uses the one of the environment or the client's login.
        dtype: Cast the weights to "float32" or "bfloat16"; None keeps them as stored.
        verify: Read all weights, compare their sha256 and look for NaN. Without it, weights are read when they are
            first used, and a changed byte in them goes unnoticed; all other files are compared in any case.
    """
    place = _find(name, revision, cache_dir, token)
    # Hashing begins before the other checks, which take about as long.
    with _weights(place.folder, read_sums(place.folder), verify) as files:
        return read_folder(place.folder, place.origin)._arrays(files, dtype, check_finite=verify)


def open_checkpoint(
    name: str | Path,
    *,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    token: str | bool | None = None,
) -> "Checkpoint":
    """A checkpoint with its config, headers and record checked, and no weights read; arguments as for `load`."""
    place = _find(name, revision, cache_dir, token)
    return read_folder(place.folder, place.origin)


@dataclass(frozen=True)
class Checkpoint:
    """A checked checkpoint folder.

    Attributes:
        origin: Where it was found: "path", "bundle", "cache" or "Hub".
        dtype: How the weights are stored.
        record: The run that made the weights; None if there is no record, or one that is not valid.
        record_problem: Why `record` is None although the folder has a record.json.
        sums: Size and sha256 by file.
        headers: The header of every weights file.
        shapes: The model with shapes in the place of arrays.
    """

    folder: Path
    origin: Origin
    config: ModelConfig
    dtype: np.dtype
    record: RunRecord | None
    record_problem: str | None
    sums: dict[str, FileSum]
    headers: dict[str, Header]
    shapes: LanguageModel

    def verify(self) -> None:
        """Read all weights and raise CheckpointError unless every byte is as it was written, and no NaN among them."""
        with _weights(self.folder, self.sums) as files:
            self._check_finite(files)

    def load(self, dtype: Any = None, *, verify: bool = True) -> LanguageModel:
        """The model; arguments as for `tipshare.load`."""
        with _weights(self.folder, self.sums, verify) as files:
            return self._arrays(files, dtype, check_finite=verify)

    def _arrays(self, files: Mapping[str, mmap.mmap], dtype: Any, *, check_finite: bool) -> LanguageModel:
        """The model; its tensors are views of the mapped files, which JAX uses in place on a CPU if it can."""
        wanted = self.dtype if dtype is None else check_dtype(dtype)
        if check_finite:
            self._check_finite(files)
        places = {tensor: name for name, header in self.headers.items() for tensor in header.tensors}

        def fetch(tensor: str) -> jax.Array:
            name = places[tensor]
            view = view_tensor(files[name], self.headers[name], tensor)
            if wanted == self.dtype:
                return jax.device_put(view)
            cast = jax.device_put(view.astype(wanted))
            _release(files[name])
            return cast

        leaves = [fetch(tensor) for tensor in name_tensors(self.shapes)]
        return jax.tree.unflatten(jax.tree.structure(self.shapes), leaves)

    def _check_finite(self, files: Mapping[str, mmap.mmap]) -> None:
        for name, header in self.headers.items():
            if not all(is_finite(view_tensor(files[name], header, tensor)) for tensor in header.tensors):
                raise CheckpointError(
                    f"{name} holds NaN or infinity: it was damaged, or training went wrong before it was saved"
                )


def read_folder(folder: Path, origin: Origin = "path") -> Checkpoint:
    """Check all of a checkpoint that can be checked without reading its weights."""
    sums = read_sums(folder)
    if CONFIG not in sums:
        raise CheckpointError(f"{CHECKSUMS} does not list {CONFIG}")
    content = read_file(folder / CONFIG, LARGEST_JSON)
    # Parsed before its sum is compared: a wrong version or kind says more than a changed file.
    stored = config_file.parse(parse_json(content, CONFIG))
    check_sha256(CONFIG, hashlib.sha256(content).hexdigest(), sums[CONFIG])
    headers = {name: read_header(folder / name) for name in _weight_files(folder, sums)}
    for name, header in headers.items():
        _check_metadata(name, header, stored.model.kind)
    shapes = _check_tensors(stored, headers)
    record, problem = _read_record(folder, sums, stored.model)
    return Checkpoint(folder, origin, stored.model, stored.dtype, record, problem, sums, headers, shapes)


def _find(name: str | Path, revision: str | None, cache_dir: str | Path | None, token: str | bool | None) -> Location:
    place = locate(name, revision=revision, cache_dir=cache_dir, token=token)
    logger.info("%s: from %s", name, place.origin)
    return place


@contextmanager
def _weights(folder: Path, sums: dict[str, FileSum], verify: bool = True) -> Iterator[dict[str, mmap.mmap]]:
    """The mapped weights files; other threads hash them while the block runs, unless that is not wanted."""
    files = {name: map_file(folder / name) for name in sums if name.endswith(".safetensors")}
    with verifying(files, sums) if verify else nullcontext():
        yield files


def _read_checked(folder: Path, name: str, sums: dict[str, FileSum]) -> bytes:
    """The content of a small file, whose sha256 must be the listed one."""
    content = read_file(folder / name, LARGEST_JSON)
    check_sha256(name, hashlib.sha256(content).hexdigest(), sums[name])
    return content


def _read_record(folder: Path, sums: dict[str, FileSum], config: ModelConfig) -> tuple[RunRecord | None, str | None]:
    """The record, or None and the reason: a record that is not valid must not keep anyone from using the weights."""
    if RECORD not in sums:
        return None, None
    content = _read_checked(folder, RECORD, sums)
    try:
        record = RunRecord.from_json(content)
    except ValueError as error:
        return None, str(error)[:300]
    if record.kind != config.kind:
        return None, f"it is of a {record.kind}, and the model is a {config.kind}"
    return record, None


def _weight_files(folder: Path, sums: dict[str, FileSum]) -> list[str]:
    """The weights files that checksums.json lists, which must be those of the index if there is one."""
    listed = {name for name in sums if SHARD_NAME.fullmatch(name)}
    if INDEX not in sums:
        if listed or WEIGHTS not in sums:
            raise CheckpointError(f"{CHECKSUMS} lists neither {WEIGHTS} alone nor {INDEX} with its files")
        return [WEIGHTS]
    if WEIGHTS in sums:
        raise CheckpointError(f"{CHECKSUMS} lists both {WEIGHTS} and {INDEX}: it must be one of them")
    places = parse_json(_read_checked(folder, INDEX, sums), INDEX).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise CheckpointError(f"{INDEX} needs a weight_map from tensors to files")
    for tensor, name in places.items():
        if not isinstance(name, str) or not SHARD_NAME.fullmatch(name):
            raise CheckpointError(
                f"{INDEX} puts {tensor!r:.80} into {name!r:.80}, which is no weights file of this folder"
            )
    named = set(places.values())
    if named != listed:
        raise CheckpointError(f"{INDEX} and {CHECKSUMS} disagree about {', '.join(sorted(named ^ listed))[:200]}")
    for name in sorted(named):
        inside = set(read_header(folder / name).tensors)
        wrong = inside ^ {tensor for tensor, place in places.items() if place == name}
        if wrong:
            raise CheckpointError(f"{INDEX} and {name} disagree about {min(wrong)!r:.80}")
    return sorted(named)


def _check_metadata(name: str, header: Header, kind: str) -> None:
    expected = {"format": FORMAT, "format_version": str(FORMAT_VERSION), "kind": kind}
    for key, value in expected.items():
        found = header.metadata.get(key)
        if found != value:
            raise CheckpointError(f"{name}: {key} is {found!r:.80} in its metadata, not {value!r}")


def _check_tensors(stored: config_file.StoredConfig, headers: dict[str, Header]) -> LanguageModel:
    """The shapes of the model that the config asks for, if the files hold exactly its tensors."""
    found = {tensor: entry for header in headers.values() for tensor, entry in header.tensors.items()}
    places = {tensor: name for name, header in headers.items() for tensor in header.tensors}
    if len(found) != sum(len(header.tensors) for header in headers.values()):
        raise CheckpointError("a tensor is in two weights files")
    _check_plausible(stored.model, sum(entry.end - entry.start for entry in found.values()) // stored.dtype.itemsize)
    shapes = _model_shapes(stored.model)
    expected = name_tensors(shapes)
    missing, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    if missing or extra:
        count = len(missing) + len(extra)
        which = f"{missing[0]!r} is missing" if missing else f"{extra[0]!r:.120} is not part of a {stored.model.kind}"
        raise CheckpointError(f"{', '.join(headers)}: tensor {which} ({count} in all do not fit the config)")
    for tensor, entry in found.items():
        if entry.shape != tuple(expected[tensor].shape):
            raise CheckpointError(
                f"{places[tensor]}: {tensor!r} has shape {list(entry.shape)}, but {CONFIG} makes it "
                f"{list(expected[tensor].shape)}"
            )
        if entry.dtype != stored.dtype:
            raise CheckpointError(
                f"{places[tensor]}: {tensor!r} is {entry.dtype.name}, but {CONFIG} says {stored.dtype.name}"
            )
    return shapes


def _check_plausible(config: ModelConfig, count: int) -> None:
    """Refuse sizes that the files cannot hold, before shapes are worked out."""
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


def _release(mapped: mmap.mmap) -> None:
    """Let go of pages of the file that were read; they come back from disk if needed."""
    if hasattr(mapped, "madvise"):
        mapped.madvise(mmap.MADV_DONTNEED)
