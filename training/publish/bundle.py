"""Checkpoints that are kept in the project's repository: in which precision, and how large they may be in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tipshare
from tipshare.checkpoint import Checkpoint
from tipshare.config import KINDS
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
    """Kind -> what is stored of it; a ValueError if two are of one kind, or if all are too large together."""
    planned: dict[str, BundledCheckpoint] = {}
    for checkpoint in checkpoints:
        kind = checkpoint.config.kind
        if kind in planned:
            raise ValueError(
                f"{planned[kind].checkpoint.folder} and {checkpoint.folder} are both {kind}: the bundle has one of each"
            )
        count = tipshare.count_parameters(checkpoint.config).total
        small = 4 * count <= LARGEST_FLOAT32 and checkpoint.dtype == np.float32
        planned[kind] = BundledCheckpoint(checkpoint, "float32" if small else "bfloat16", count * (4 if small else 2))
    total = sum(each.size for each in planned.values())
    if total > LARGEST_BUNDLE:
        sizes = ", ".join(f"{kind} {each.size / 1e6:.1f} MB" for kind, each in planned.items())
        raise ValueError(
            f"{total / 1e6:.1f} MB of weights are more than the {LARGEST_BUNDLE / 1e6:.0f} MB of a bundle ({sizes}): "
            "leave one out, or train a smaller model"
        )
    return dict(sorted(planned.items(), key=lambda item: list(KINDS).index(item[0])))


def write_bundle(planned: dict[str, BundledCheckpoint], folder: Path) -> None:
    """Save each checkpoint as `folder/<kind>`, and its record in `folder/runs.jsonl`."""
    for kind, each in planned.items():
        record = each.checkpoint.record
        tipshare.save(each.checkpoint.load(), folder / kind, record, each.dtype)
        if record is not None:
            append_record(record, folder / "runs.jsonl")
