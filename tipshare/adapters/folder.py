"""Read an adapter folder: find its base, check that they belong together, and put both together."""

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.random as jr

from tipshare.adapters.apply import apply
from tipshare.adapters.description import Description, digest_of, prepare
from tipshare.checkpoint.checksums import read_checked, read_sums
from tipshare.checkpoint.container import read_header
from tipshare.checkpoint.layout import ADAPTER_CONFIG, ADAPTER_WEIGHTS, CHECKSUMS, RECORD, CheckpointError
from tipshare.checkpoint.load import Checkpoint, mapped_weights, read_folder, read_record
from tipshare.checkpoint.locate import USUAL_DOWNLOAD, Download, Location, Origin, bundle_folder, list_bundled, locate
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.reading import read_json
from tipshare.checkpoint.save import check_dtype
from tipshare.checkpoint.tensors import check_tensors
from tipshare.model.language_model import LanguageModel


@dataclass(frozen=True, kw_only=True)
class AdapterCheckpoint(Checkpoint):
    """A checked adapter folder and its base; `load` gives the adapted model."""

    base: Checkpoint
    description: Description

    def verify(self) -> None:
        """Read all weights, of the base too, and raise CheckpointError unless all are sound and belong together."""
        self.load()

    def load(self, dtype: Any = None, *, verify: bool = True) -> LanguageModel:
        """The adapted model; arguments as for `tipshare.load`, but float32 if no dtype is given.

        Whether the base is the right one is compared in any case.
        """
        wanted = self.dtype if dtype is None else check_dtype(dtype)
        base, described = self.base.load(verify=verify), self.description
        found, expected = digest_of(base), described.base.digest
        if found != expected:
            raise CheckpointError(
                f"{described.base.name} is not the base of this adapter: the digest of its weights is "
                f"{found[:12]}..., but {ADAPTER_CONFIG} asks for {expected[:12]}...; give the base it was trained on, "
                "tipshare.adapters.load(folder, base=...)"
            )
        with mapped_weights(self.folder, self.sums, verify) as files:
            adapters = self._fill(self.shapes.adapters, files, None, check_finite=verify)
        try:
            prepared = prepare(base.astype(self.dtype), described.depth_steps, layers=described.to_layers)
        except ValueError as error:  # some weights have no logarithm
            raise CheckpointError(f"{ADAPTER_CONFIG} does not fit the weights of its base: {error}") from error
        return dataclasses.replace(prepared, adapters=adapters).astype(wanted)


def load(
    folder: str | Path,
    *,
    base: str | Path | None = None,
    dtype: Any = None,
    verify: bool = True,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    token: str | bool | None = None,
) -> LanguageModel:
    """The adapted model of an adapter folder or Hub repository; `tipshare.load` does the same without `base`.

    Args:
        base: Where the base is, if not where the adapter says; it must be the same model.
    """
    download = Download(cache_dir=cache_dir, token=token)
    place = locate(folder, revision, download)
    if not os.path.isfile(place.folder / ADAPTER_CONFIG):
        raise CheckpointError(f"{folder} has no {ADAPTER_CONFIG}: it is not an adapter; tipshare.load takes models")
    return read_adapter(place.folder, place.origin, download, base).load(dtype, verify=verify)


def read_adapter(
    folder: Path,
    origin: Origin = "path",
    download: Download = USUAL_DOWNLOAD,
    base: str | Path | None = None,
) -> AdapterCheckpoint:
    """Check all of an adapter folder and its base that can be checked without reading weights."""
    sums = read_sums(folder)
    if not {ADAPTER_CONFIG, ADAPTER_WEIGHTS} <= set(sums) <= {ADAPTER_CONFIG, ADAPTER_WEIGHTS, RECORD}:
        raise CheckpointError(f"{CHECKSUMS} must list {ADAPTER_CONFIG}, {ADAPTER_WEIGHTS} and perhaps {RECORD}")
    description = Description.from_fields(read_json(folder / ADAPTER_CONFIG))
    read_checked(folder, ADAPTER_CONFIG, sums)
    header = read_header(folder / ADAPTER_WEIGHTS)
    name = description.base.name
    place = _find_base(folder, origin, name, download) if base is None else locate(base, None, download)
    if os.path.isfile(place.folder / ADAPTER_CONFIG):
        raise CheckpointError(f"the base {name!r:.120} is an adapter itself: merge it first, and adapt the result")
    found = read_folder(place.folder, place.origin)
    shapes = _adapted_shapes(description, found.shapes)
    headers = {ADAPTER_WEIGHTS: header}
    check_tensors(headers, name_tensors(shapes.adapters), "these adapters", f"{ADAPTER_CONFIG} with its base")
    dtypes = {entry.dtype for entry in header.tensors.values()}
    if len(dtypes) != 1:
        raise CheckpointError(f"{ADAPTER_WEIGHTS}: its tensors have different dtypes")
    record, problem = read_record(folder, sums, found.config.kind)
    described = description.to_fields()
    return AdapterCheckpoint(
        folder=folder,
        origin=origin,
        config=shapes.config,
        dtype=dtypes.pop(),
        record=record,
        record_problem=problem,
        sums=sums,
        headers=headers,
        shapes=shapes,
        adapter={name: value for name, value in described.items() if name not in ("model_type", "format_version")},
        base=found,
        description=description,
    )


def _find_base(folder: Path, origin: Origin, name: str, download: Download) -> Location:
    """The base by its bundled name, its Hub id, or its place beside an adapter that is a folder of this machine."""
    if name in list_bundled():
        return Location(bundle_folder() / name, "bundle")
    if name.startswith("."):
        # An adapter from the Hub has no say in which folders of this machine are read.
        if origin in ("path", "bundle") and os.path.isdir(folder / name):
            return Location(folder / name, "path")
        raise CheckpointError(
            f"the base of this adapter was the folder {name!r:.120}, which is not here; say where it is: "
            "tipshare.adapters.load(folder, base=...)"
        )
    if name.count("/") != 1:
        raise CheckpointError(f"the base {name!r:.120} of this adapter is neither a bundled name nor a Hub id")
    # With a revision, the name is never taken for a local folder.
    return locate(name, "main", download)


def _adapted_shapes(description: Description, base: LanguageModel) -> LanguageModel:
    """The adapted model with shapes in the place of arrays, or a CheckpointError if the base is another one."""

    def adapted(model: LanguageModel) -> LanguageModel:
        return apply(
            prepare(model, description.depth_steps, layers=description.to_layers),
            key=jr.key(0),
            rank=description.rank,
            alpha=description.alpha,
            targets=description.targets,
            along_depth=description.along_depth,
        )

    try:
        return eqx.filter_eval_shape(adapted, base)
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise CheckpointError(
            f"{ADAPTER_CONFIG} does not fit {description.base.name!r:.120}: {str(error)[:300]}"
        ) from error
