"""A tuned lens beside the checkpoint it was trained for: tuned_lens.safetensors, and tuned_lens.json that describes it.

The description names the sha256 of the checkpoint's weights, so that a lens is never used with other weights, for
example after the model was trained again. Loading and pushing a checkpoint leave these files alone.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import haliax as hax
import jax.numpy as jnp
import numpy as np

from tipshare.analysis.lens import TunedLens
from tipshare.checkpoint.checksums import check_size, parse_sum, verifying
from tipshare.checkpoint.container import is_finite, read_header, view_tensor, write_file
from tipshare.checkpoint.layout import CheckpointError, is_weights_file
from tipshare.checkpoint.load import Checkpoint
from tipshare.checkpoint.reading import dump_json, map_file, read_json
from tipshare.files import replacing, write_bytes

LENS = "tuned_lens.safetensors"
DESCRIPTION = "tuned_lens.json"
VERSION = 1
TRAIN = "train one with `python -m training lens`"


@dataclass(frozen=True, kw_only=True)
class LensTraining:
    """How a tuned lens was trained, and what that did.

    Attributes:
        divergences_before: KL(last prediction | prediction here) in nats on validation text, by depth from the
            embedding on, with the logit lens.
        divergences_after: The same with the tuned lens.
    """

    corpus: str
    num_steps: int
    batch_size: int
    length: int
    learning_rate: float
    seed: int
    divergences_before: list[float]
    divergences_after: list[float]


def has_lens(folder: Path) -> bool:
    """Whether a tuned lens lies in a checkpoint's folder."""
    return (folder / DESCRIPTION).is_file()


def save_lens(lens: TunedLens, checkpoint: Checkpoint, training: LensTraining, folder: Path | None = None) -> Path:
    """Write a tuned lens to a folder, the checkpoint's own if None; returns the path of its description."""
    folder = checkpoint.folder if folder is None else folder
    tensors = {
        "weight": np.asarray(lens.weight.rearrange(("depth", "embed", "embed_out")).array, np.float32),
        "bias": np.asarray(lens.bias.rearrange(("depth", "embed")).array, np.float32),
    }
    if not all(is_finite(array) for array in tensors.values()):
        raise ValueError("the tuned lens holds NaN or infinity: train it with a smaller learning rate")
    with replacing(folder / LENS) as path:
        written = write_file(path, tensors, {"format": "tipshare-lens"})
    fields = {
        "format_version": VERSION,
        "lens": dataclasses.asdict(written),
        "weights": _weights(checkpoint),
        "training": dataclasses.asdict(training),
    }
    write_bytes(folder / DESCRIPTION, dump_json(fields))
    return folder / DESCRIPTION


def load_lens(checkpoint: Checkpoint) -> TunedLens:
    """The tuned lens in a checkpoint's folder.

    CheckpointError if there is none, if it is damaged, or if it was trained for other weights.
    """
    folder = checkpoint.folder
    if not has_lens(folder):
        raise CheckpointError(f"there is no {DESCRIPTION} in the checkpoint's folder: {TRAIN}")
    fields = read_json(folder / DESCRIPTION)
    if fields.get("format_version") != VERSION:
        raise CheckpointError(f"{DESCRIPTION} must have format_version {VERSION}: {TRAIN}")
    expected = parse_sum(f"{DESCRIPTION}: lens", fields.get("lens"))
    if fields.get("weights") != _weights(checkpoint):
        raise CheckpointError(f"{DESCRIPTION} is of a lens for other weights: {TRAIN}")
    check_size(folder / LENS, expected)
    header = read_header(folder / LENS)
    width, depth = checkpoint.config.hidden_dim, checkpoint.config.steps
    shapes = {"weight": (depth, width, width), "bias": (depth, width)}
    found = {name: entry.shape for name, entry in header.tensors.items()}
    if found != shapes or any(entry.dtype != np.float32 for entry in header.tensors.values()):
        raise CheckpointError(f"{LENS} must hold float32 arrays {shapes}, but holds {str(found)[:200]}: {TRAIN}")
    file = map_file(folder / LENS)
    with verifying({LENS: file}, {LENS: expected}):
        weight, bias = (np.array(view_tensor(file, header, name)) for name in ("weight", "bias"))
    if not (is_finite(weight) and is_finite(bias)):
        raise CheckpointError(f"{LENS} holds NaN or infinity: {TRAIN}")
    return TunedLens(
        hax.named(jnp.asarray(weight), ("depth", "embed", "embed_out")),
        hax.named(jnp.asarray(bias), ("depth", "embed")),
    )


def _weights(checkpoint: Checkpoint) -> dict[str, str]:
    """sha256 of the checkpoint's weights files, by name."""
    return {name: each.sha256 for name, each in sorted(checkpoint.sums.items()) if is_weights_file(name)}
