"""Write the adapters of a model as a folder of their own, and publish it."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tipshare.adapters.apply import settings_of
from tipshare.adapters.card import make_card
from tipshare.adapters.description import FORMAT, Base, Description, digest_of, prepare, relative_name
from tipshare.checkpoint.container import write_file
from tipshare.checkpoint.hub import Published
from tipshare.checkpoint.hub import push as push_folder
from tipshare.checkpoint.layout import ADAPTER_CONFIG, ADAPTER_WEIGHTS, CARD
from tipshare.checkpoint.load import open_checkpoint
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.publish_files import published_files
from tipshare.checkpoint.reading import dump_json, read_json
from tipshare.checkpoint.record import RunRecord
from tipshare.checkpoint.save import check_finite, check_record, check_target, write_texts
from tipshare.model.language_model import LanguageModel


def save(
    model: LanguageModel,
    folder: str | Path,
    base: str | Path,
    record: RunRecord | Mapping[str, Any] | None = None,
) -> Path:
    """Write the adapters of `model` to `folder`, in float32, and return the folder.

    A new folder appears complete or not at all, as with `tipshare.save`.

    Args:
        base: The bundled name, Hub id or folder of the model without its adapters, to which it must be equal.
        record: The run that trained the adapters; it fills the card.
    """
    folder = Path(folder)
    if model.adapters is None:
        raise ValueError("this model has no adapters: tipshare.save writes whole models")
    check_target(folder, ADAPTER_CONFIG, FORMAT)
    record = check_record(record, model)
    described = describe(model, folder, base)
    tensors = {
        name: np.asarray(leaf, np.float32) for name, leaf in name_tensors(jax.device_get(model.adapters)).items()
    }
    check_finite(tensors)
    with published_files(folder) as new:
        weights = write_file(new / ADAPTER_WEIGHTS, tensors, {"format": "tipshare-adapter"})
        card = make_card(described, model.config, weights.size, record).encode()
        config = dump_json(described.to_fields())
        write_texts(new, {ADAPTER_WEIGHTS: weights}, {ADAPTER_CONFIG: config}, record, {CARD: card})
    return folder


def describe(model: LanguageModel, folder: Path, base: str | Path) -> Description:
    """What the adapters of a model are; ValueError if the rest of it is not the base."""
    checkpoint = open_checkpoint(base)
    if checkpoint.adapter is not None:
        raise ValueError(f"the base {base} is an adapter itself: merge it first, and adapt the result")
    stored = checkpoint.load("float32")
    layers = model.config.weights != stored.config.weights
    depth_steps = None if model.steps == stored.steps else model.steps
    rest = dataclasses.replace(model, adapters=None).astype(np.float32)
    if digest_of(prepare(stored, depth_steps, layers=layers)) != digest_of(rest):
        raise ValueError(
            f"without its adapters this model is not {base}: an adapter folder holds adapters alone; save the whole "
            "model with tipshare.adapters.merge and tipshare.save"
        )
    name = relative_name(checkpoint.folder, folder) if checkpoint.origin == "path" else str(base)
    return Description(
        base=Base(name=name, digest=digest_of(stored)),
        depth_steps=depth_steps,
        to_layers=layers,
        **settings_of(model),
    )


def push(folder: str | Path, repo_id: str, **options: Any) -> Published:
    """Upload an adapter folder in one commit; options as for `tipshare.push`. Its base must be there for others too."""
    name = Description.from_fields(read_json(Path(folder) / ADAPTER_CONFIG)).base.name
    if name.startswith("."):
        raise ValueError(
            f"the base of this adapter is a folder of this machine ({name}): push the base with tipshare.push, and "
            "save the adapter with its Hub id as base"
        )
    return push_folder(folder, repo_id, **options)
