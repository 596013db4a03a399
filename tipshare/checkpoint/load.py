"""Read a checkpoint folder: all checks first, then the weights, in place."""

import logging
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.random as jr
import numpy as np

from tipshare.checkpoint import checksums, config_file
from tipshare.checkpoint.checksums import FileSum
from tipshare.checkpoint.container import Header, map_file, read_header, view_tensor
from tipshare.checkpoint.errors import CheckpointError
from tipshare.checkpoint.layout import CHECKSUMS, CONFIG, FORMAT, FORMAT_VERSION, INDEX, RECORD, SHARD_NAME, WEIGHTS
from tipshare.checkpoint.locate import Origin, locate
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.save import check_dtype
from tipshare.checkpoint.strict_json import parse_json, read_json
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
) -> LanguageModel:
    """The model of a checkpoint folder, of a bundled checkpoint, or of a Hub repository.

    Args:
        name: A folder; or one of `tipshare.list_bundled()`; or a repository id such as "organisation/name".
        revision: Branch, tag or commit on the Hub.
        cache_dir: Where the Hub client keeps downloads; None for its usual place.
        token: Access token for private repositories; None uses the one of the environment or the client's login.
        dtype: Cast the weights to "float32" or "bfloat16"; None keeps them as stored.
    """
    return open_checkpoint(name, revision=revision, cache_dir=cache_dir, token=token).load(dtype)


def open_checkpoint(
    name: str | Path,
    *,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    token: str | bool | None = None,
) -> "Checkpoint":
    """A checkpoint with its config, headers and record checked, and no weights read; arguments as for `load`."""
    place = locate(name, revision=revision, cache_dir=cache_dir, token=token)
    logger.info("%s: from %s", name, place.origin)
    return read_folder(place.folder, place.origin)


@dataclass(frozen=True)
class Checkpoint:
    """A checked checkpoint folder.

    Attributes:
        origin: Where it was found: "path", "bundle", "cache" or "Hub".
        dtype: How the weights are stored.
        record: The run that made the weights, if it is known.
        sums: Size and sha256 by file.
        headers: The header of every weights file.
        shapes: The model with shapes in the place of arrays.
    """

    folder: Path
    origin: Origin
    config: ModelConfig
    dtype: np.dtype
    record: dict[str, Any] | None
    sums: dict[str, FileSum]
    headers: dict[str, Header]
    shapes: LanguageModel

    def verify(self, *, full: bool = True) -> None:
        """Read all weights and raise CheckpointError unless every file is as it was written.

        Args:
            full: Compare the sha256 of the files, not only their fingerprints.
        """
        checksums.check_weights(self.folder, self.headers, self.sums, full=full)

    def load(self, dtype: Any = None) -> LanguageModel:
        """The model; aligned tensors stay in the mapped file and take no memory of their own."""
        wanted = self.dtype if dtype is None else check_dtype(dtype)
        # What has just come over a network is looked at more closely, once.
        self.verify(full=self.origin == "Hub")
        files = {name: map_file(self.folder / name) for name in self.headers}
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


def read_folder(folder: Path, origin: Origin = "path") -> Checkpoint:
    """Check all of a checkpoint that can be checked without reading its weights."""
    sums = checksums.parse(read_json(folder / CHECKSUMS))
    checksums.check_sizes(folder, sums)
    if CONFIG not in sums:
        raise CheckpointError(f"{CHECKSUMS} does not list {CONFIG}")
    # Parsed before its sum is compared: a wrong version or kind is the better news than a changed file.
    stored = config_file.parse(read_json(folder / CONFIG))
    checksums.check_content(folder, CONFIG, sums[CONFIG])
    headers = {name: read_header(folder / name) for name in _weight_files(folder, sums)}
    for name, header in headers.items():
        _check_metadata(name, header, stored.model.kind)
    shapes = _check_tensors(stored, headers)
    record = None
    if RECORD in sums:
        record = parse_json(checksums.check_content(folder, RECORD, sums[RECORD]), RECORD)
    return Checkpoint(folder, origin, stored.model, stored.dtype, record, sums, headers, shapes)


def _weight_files(folder: Path, sums: dict[str, FileSum]) -> list[str]:
    """The weights files that checksums.json lists, which must be those of the index if there is one."""
    listed = {name for name in sums if SHARD_NAME.fullmatch(name)}
    if INDEX not in sums:
        if listed or WEIGHTS not in sums:
            raise CheckpointError(f"{CHECKSUMS} lists neither {WEIGHTS} alone nor {INDEX} with its files")
        return [WEIGHTS]
    if WEIGHTS in sums:
        raise CheckpointError(f"{CHECKSUMS} lists both {WEIGHTS} and {INDEX}: it must be one of them")
    places = parse_json(checksums.check_content(folder, INDEX, sums[INDEX]), INDEX).get("weight_map")
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
