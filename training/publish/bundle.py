"""Checkpoints that are kept in the project's repository: in which precision, and how large they may be in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tipshare
from tipshare.checkpoint import Checkpoint
from tipshare.kinds import rank_of
from training.recipes.recipe import slug
from training.results.records import append_record

# Git keeps every version of a file, and everyone who clones the project downloads all of them.
LARGEST_FLOAT32 = 5_000_000
LARGEST_BUNDLE = 45_000_000


@dataclass(frozen=True)
class BundledCheckpoint:
    """A checkpoint on its way into the bundle.

    Attributes:
        dtype: How its weights will be stored: float32, or bfloat16 if that would be large.
        size: Bytes of weights, stored that way.
    """

    checkpoint: Checkpoint
    dtype: str
    size: int


def plan_bundle(checkpoints: Sequence[Checkpoint]) -> dict[str, BundledCheckpoint]:
    """Name -> what is stored under it; a ValueError if two have one name, or if all are too large together.

    The name is that of the model in the checkpoint's record, as the name of a folder: a kind, or a variant of one.
    """
    planned: dict[str, BundledCheckpoint] = {}
    for checkpoint in checkpoints:
        name = slug(checkpoint.record.model if checkpoint.record else checkpoint.config.kind)
        if name in planned:
            raise ValueError(
                f"{planned[name].checkpoint.folder} and {checkpoint.folder} are both {name}: the bundle has one of each"
            )
        count = tipshare.count_parameters(checkpoint.config).total
        small = 4 * count <= LARGEST_FLOAT32 and checkpoint.dtype == np.float32
        planned[name] = BundledCheckpoint(checkpoint, "float32" if small else "bfloat16", count * (4 if small else 2))
    total = sum(each.size for each in planned.values())
    if total > LARGEST_BUNDLE:
        sizes = ", ".join(f"{name} {each.size / 1e6:.1f} MB" for name, each in planned.items())
        raise ValueError(
            f"{total / 1e6:.1f} MB of weights are more than the {LARGEST_BUNDLE / 1e6:.0f} MB of a bundle ({sizes}): "
            "leave one out, or train a smaller model"
        )
    return dict(sorted(planned.items(), key=lambda item: (rank_of(item[1].checkpoint.config.kind), item[0])))


def write_bundle(planned: dict[str, BundledCheckpoint], folder: Path) -> None:
    """Save each checkpoint under its name in `folder`, and its record in `folder/runs.jsonl`."""
    for name, each in planned.items():
        record = each.checkpoint.record
        tipshare.save(each.checkpoint.load(), folder / name, record, each.dtype)
        if record is not None:
            append_record(record, folder / "runs.jsonl")
