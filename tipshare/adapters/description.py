"""adapter_config.json: which adapters a folder holds, and of which base."""

import hashlib
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tipshare.adapters.apply import check_settings
from tipshare.checkpoint.checksums import SHA256
from tipshare.checkpoint.layout import ADAPTER_CONFIG, CheckpointError
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.reading import check_keys
from tipshare.checkpoint.record import check_label
from tipshare.model.depth_change import to_layers, with_depth_steps
from tipshare.model.language_model import LanguageModel
from tipshare.model.low_rank import AlongDepth
from tipshare.validation import check_whole

FORMAT = "tipshare-adapter"
FORMAT_VERSION = 1
MOST_TARGETS = 256
MOST_STEPS = 128


@dataclass(frozen=True, kw_only=True)
class Base:
    """The model that adapters belong to.

    Attributes:
        name: A bundled name, a Hub id, or a folder relative to that of the adapters, which begins with a dot.
        digest: sha256 of the names, shapes and values of its weights, whatever files they are stored in.
    """

    name: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Description:
    """What an adapter folder is.

    Attributes:
        targets: Full names of the adapted layers.
        depth_steps: The number of depth steps they were trained at, if not that of the base.
        to_layers: Whether the base was first given weights of its own in every layer.
    """

    base: Base
    rank: int
    alpha: float
    targets: tuple[str, ...]
    along_depth: AlongDepth
    depth_steps: int | None = None
    to_layers: bool = False

    def to_fields(self) -> dict[str, Any]:
        """The fields of adapter_config.json."""
        described = {**asdict(self), "targets": list(self.targets)}
        return {"model_type": FORMAT, "format_version": FORMAT_VERSION, **described}

    @staticmethod
    def from_fields(given: dict[str, Any]) -> "Description":
        """What `to_fields` wrote, or a CheckpointError."""
        given = dict(given)
        kind, version = given.pop("model_type", None), given.pop("format_version", None)
        if kind != FORMAT or type(version) is not int or version != FORMAT_VERSION:
            raise CheckpointError(
                f"{ADAPTER_CONFIG}: model_type and format_version are {kind!r:.60} and {version!r:.60}, not {FORMAT!r} "
                f"and {FORMAT_VERSION}, which this version of tipshare reads"
            )
        check_keys(ADAPTER_CONFIG, given, {each.name for each in fields(Description)})
        try:
            _check_values(given)
        except ValueError as error:
            raise CheckpointError(f"{ADAPTER_CONFIG}: {str(error)[:300]}") from error
        return Description(**{**given, "base": Base(**given["base"]), "targets": tuple(given["targets"])})


def _check_values(given: dict[str, Any]) -> None:
    base, targets = given["base"], given["targets"]
    if not isinstance(base, dict) or set(base) != {"name", "digest"}:
        raise ValueError("base needs exactly a name and a digest")
    check_label("base.name", base["name"], 500)
    if not isinstance(base["digest"], str) or not SHA256.fullmatch(base["digest"]):
        raise ValueError("base has no valid digest")
    check_settings(given["rank"], given["alpha"], given["along_depth"])
    named = isinstance(targets, list) and all(isinstance(each, str) and len(each) <= 200 for each in targets)
    if not named or not 0 < len(targets) <= MOST_TARGETS or len(set(targets)) < len(targets):
        raise ValueError(f"targets must be 1 to {MOST_TARGETS} different names of layers")
    if given["depth_steps"] is not None:
        check_whole("depth_steps", given["depth_steps"], most=MOST_STEPS)
    if not isinstance(given["to_layers"], bool):
        raise ValueError(f"to_layers={given['to_layers']!r:.60} must be true or false")


def prepare(base: LanguageModel, depth_steps: int | None, *, layers: bool) -> LanguageModel:
    """A base at another number of depth steps, if one is given, and with weights of its own per layer, if asked for."""
    return to_layers(base, depth_steps) if layers else with_depth_steps(base, depth_steps)


def digest_of(model: LanguageModel) -> str:
    """sha256 of the names, shapes and float32 values of a model's weights, in the order of their names.

    The same numbers give the same digest in any number of files, and stored as bfloat16 or float32.
    """
    found = hashlib.sha256()
    for name, leaf in sorted(name_tensors(jax.device_get(model)).items()):
        array = np.ascontiguousarray(np.asarray(leaf), np.float32)
        found.update(f"{name} {array.shape}\n".encode())
        found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def relative_name(base: Path, folder: Path) -> str:
    """A base's folder as seen from the folder of its adapters."""
    path = Path(os.path.relpath(base.resolve(), folder.resolve())).as_posix()
    return path if path.startswith(".") else f"./{path}"
