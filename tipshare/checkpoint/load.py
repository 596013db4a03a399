"""Read a checkpoint folder: check all of it, then use the weights in place."""

import logging
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tipshare.checkpoint import config_file
from tipshare.checkpoint.checksums import FileSum, read_checked, read_sums, verifying
from tipshare.checkpoint.container import Header, is_finite, view_tensor
from tipshare.checkpoint.layout import ADAPTER_CONFIG, CHECKSUMS, CONFIG, RECORD, CheckpointError
from tipshare.checkpoint.locate import USUAL_DOWNLOAD, Download, Origin, locate
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.reading import map_file, read_json
from tipshare.checkpoint.record import RunRecord
from tipshare.checkpoint.save import check_dtype
from tipshare.checkpoint.tensors import check_model, read_headers
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
        verify: Read all weights, compare their sha256 and look for NaN, which takes about 0.1 s for 200 MB on a
            processor with instructions for SHA. Without it, weights are read when they are first used, and a changed
            byte in them goes unnoticed; all other files are compared in any case.
    """
    download = Download(cache_dir=cache_dir, token=token)
    place = locate(name, revision, download)
    logger.info("%s: from %s", name, place.origin)
    if os.path.isfile(place.folder / ADAPTER_CONFIG):
        return read_folder(place.folder, place.origin, download).load(dtype, verify=verify)
    # Hashing begins before the other checks, which take about as long.
    with mapped_weights(place.folder, read_sums(place.folder), verify) as files:
        checkpoint = read_folder(place.folder, place.origin)
        return checkpoint._fill(checkpoint.shapes, files, dtype, check_finite=verify)


def open_checkpoint(
    name: str | Path,
    *,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    token: str | bool | None = None,
    most_bytes: int | None = None,
) -> "Checkpoint":
    """A checkpoint with its config, headers and record checked, and no weights read; arguments as for `load`.

    Args:
        most_bytes: Fetch no repository whose files are larger in all; their sizes are looked at first.
    """
    download = Download(cache_dir=cache_dir, token=token, most_bytes=most_bytes)
    place = locate(name, revision, download)
    logger.info("%s: from %s", name, place.origin)
    return read_folder(place.folder, place.origin, download)


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
        adapter: What an adapter folder is, as JSON fields: its base and its settings; None for a whole model.
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
    adapter: dict[str, Any] | None = None

    def verify(self) -> None:
        """Read all weights and raise CheckpointError unless every byte is as it was written, and no NaN among them."""
        with mapped_weights(self.folder, self.sums) as files:
            self._check_finite(files)

    def load(self, dtype: Any = None, *, verify: bool = True) -> LanguageModel:
        """The model; arguments as for `tipshare.load`."""
        with mapped_weights(self.folder, self.sums, verify) as files:
            return self._fill(self.shapes, files, dtype, check_finite=verify)

    def _fill(self, shapes: Any, files: Mapping[str, mmap.mmap], dtype: Any, *, check_finite: bool) -> Any:
        """A tree of shapes, filled with the tensors of its names.

        They are views of the mapped files, which JAX uses in place on a CPU if it can.
        """
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

        leaves = [fetch(tensor) for tensor in name_tensors(shapes)]
        return jax.tree.unflatten(jax.tree.structure(shapes), leaves)

    def _check_finite(self, files: Mapping[str, mmap.mmap]) -> None:
        for name, header in self.headers.items():
            if not all(is_finite(view_tensor(files[name], header, tensor)) for tensor in header.tensors):
                raise CheckpointError(
                    f"{name} holds NaN or infinity: it was damaged, or training went wrong before it was saved"
                )


def read_folder(folder: Path, origin: Origin = "path", download: Download = USUAL_DOWNLOAD) -> Checkpoint:
    """Check all of a checkpoint that can be checked without reading its weights.

    The base of an adapter folder is found, downloaded if need be, and checked too.
    """
    if os.path.isfile(folder / ADAPTER_CONFIG):
        from tipshare.adapters.folder import read_adapter

        return read_adapter(folder, origin, download)
    sums = read_sums(folder)
    if CONFIG not in sums:
        raise CheckpointError(f"{CHECKSUMS} does not list {CONFIG}")
    # Parsed before its sum is compared: a wrong version or kind says more than a changed file.
    stored = config_file.parse(read_json(folder / CONFIG))
    read_checked(folder, CONFIG, sums)
    headers = read_headers(folder, sums, stored.model.kind)
    shapes = check_model(stored, headers)
    record, problem = read_record(folder, sums, stored.model.kind)
    return Checkpoint(folder, origin, stored.model, stored.dtype, record, problem, sums, headers, shapes)


@contextmanager
def mapped_weights(folder: Path, sums: dict[str, FileSum], verify: bool = True) -> Iterator[dict[str, mmap.mmap]]:
    """The mapped weights files; other threads hash them while the block runs, unless that is not wanted."""
    files = {name: map_file(folder / name) for name in sums if name.endswith(".safetensors")}
    with verifying(files, sums) if verify else nullcontext():
        yield files


def read_record(folder: Path, sums: dict[str, FileSum], kind: str) -> tuple[RunRecord | None, str | None]:
    """The record, or None and the reason: a record that is not valid must not keep anyone from using the weights."""
    if RECORD not in sums:
        return None, None
    content = read_checked(folder, RECORD, sums)
    try:
        record = RunRecord.from_json(content)
    except ValueError as error:
        return None, str(error)[:300]
    if record.kind != kind:
        return None, f"it is of a {record.kind}, and the model is a {kind}"
    return record, None


def _release(mapped: mmap.mmap) -> None:
    """Give the memory of pages that were read back to the system; they are read again if needed."""
    if hasattr(mapped, "madvise"):
        mapped.madvise(mmap.MADV_DONTNEED)
