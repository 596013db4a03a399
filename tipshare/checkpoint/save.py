"""Write a model as a checkpoint folder."""

from pathlib import Path
from typing import Any

import jax
import numpy as np

from tipshare.checkpoint import checksums, config_file
from tipshare.checkpoint.checksums import FileSum, is_finite, sum_file
from tipshare.checkpoint.container import DTYPE_CODES, write_file, write_pieces
from tipshare.checkpoint.layout import (
    CARD,
    CHECKSUMS,
    CONFIG,
    DATA_FILES,
    FIGURE,
    FORMAT,
    FORMAT_VERSION,
    INDEX,
    LARGEST_SHARD,
    RECORD,
    WEIGHTS,
    is_weights_file,
)
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.publish_files import published_files, sync_folder
from tipshare.checkpoint.record_file import dump_record, record_id
from tipshare.checkpoint.strict_json import dump_json, read_json
from tipshare.checkpoint.tokenizer_files import describe_files
from tipshare.model.language_model import LanguageModel


def save(
    model: LanguageModel,
    folder: str | Path,
    record: dict[str, Any] | None = None,
    dtype: Any = None,
    *,
    largest_shard: int = LARGEST_SHARD,
) -> Path:
    """Write `model` to `folder` and return the folder; other files in it stay as they are.

    A new folder appears complete or not at all. In an older one, what an interrupted save leaves is either the old
    checkpoint or one that loading refuses.

    Args:
        record: The run that made the weights, as JSON fields; it fills the card.
        dtype: Store the weights as "float32" or "bfloat16"; None keeps the model's own.
        largest_shard: Bytes of weights in one file; more are split over several files.
    """
    from tipshare.checkpoint.card import make_card

    folder = Path(folder)
    _check_target(folder)
    tensors = _collect_tensors(model, dtype)
    stored_dtype = next(iter(tensors.values())).dtype
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "kind": model.config.kind,
        "record": record_id(record),
    }
    texts = {CONFIG: dump_json(config_file.describe(model.config, stored_dtype))}
    if record is not None:
        texts[RECORD] = dump_record(record)
    unchecked = {**describe_files(model.config), CARD: make_card(model.config, record).encode()}
    with published_files(folder, first=CONFIG, last=CHECKSUMS, is_stale=_is_ours) as new:
        sums = write_weights(new, tensors, metadata, largest_shard)
        for name, content in texts.items():
            sums[name] = sum_file(new / name, *write_pieces(new / name, [content]))
        for name, content in unchecked.items():
            write_pieces(new / name, [content])
        write_pieces(new / CHECKSUMS, [dump_json(checksums.describe(sums))])
        sync_folder(new)
    return folder


def write_weights(
    folder: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str], largest_shard: int
) -> dict[str, FileSum]:
    """Write one weights file, or several and their index; returns the sums of all of them."""
    shards = split_shards(tensors, largest_shard)
    if len(shards) == 1:
        return {WEIGHTS: sum_file(folder / WEIGHTS, *write_file(folder / WEIGHTS, tensors, metadata))}
    sums, places = {}, {}
    for number, names in enumerate(shards, start=1):
        file_name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        shard = {name: tensors[name] for name in names}
        sums[file_name] = sum_file(folder / file_name, *write_file(folder / file_name, shard, metadata))
        places.update(dict.fromkeys(names, file_name))
    total = sum(array.nbytes for array in tensors.values())
    index = dump_json({"metadata": {"total_size": total}, "weight_map": places})
    sums[INDEX] = sum_file(folder / INDEX, *write_pieces(folder / INDEX, [index]))
    return sums


def split_shards(tensors: dict[str, np.ndarray], largest_shard: int) -> list[list[str]]:
    """Tensor names in groups of at most `largest_shard` bytes, in order; a larger tensor has a file to itself."""
    shards: list[list[str]] = [[]]
    size = 0
    for name, array in tensors.items():
        if shards[-1] and size + array.nbytes > largest_shard:
            shards.append([])
            size = 0
        shards[-1].append(name)
        size += array.nbytes
    return shards


def _collect_tensors(model: LanguageModel, dtype: Any) -> dict[str, np.ndarray]:
    if model.is_frozen:
        raise ValueError("a frozen model has lost its gates and generators: save the live one and freeze after loading")
    if dtype is not None:
        model = model.astype(check_dtype(dtype))
    tensors = {name: np.asarray(leaf) for name, leaf in name_tensors(jax.device_get(model)).items()}
    dtypes = {str(array.dtype) for array in tensors.values()}
    if len(dtypes) > 1 or next(iter(tensors.values())).dtype not in DTYPE_CODES:
        raise ValueError(f"the weights are {', '.join(sorted(dtypes))}; pass dtype='float32' or dtype='bfloat16'")
    for name, array in tensors.items():
        if not is_finite(array):
            raise ValueError(f"{name} holds NaN or infinity: this model would be of no use, save an earlier step")
    return tensors


def check_dtype(dtype: Any) -> np.dtype:
    """float32 or bfloat16, given by name or as a type, or a ValueError."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    if name not in config_file.DTYPE_NAMES:
        raise ValueError(f"dtype={dtype!r} is not one of {', '.join(config_file.DTYPE_NAMES)}")
    return config_file.DTYPE_NAMES[name]


def _check_target(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; a checkpoint is a folder")
    taken = [name for name in (CONFIG, CARD, WEIGHTS) if (folder / name).exists()]
    # The config is written first: an interrupted save can be told from someone else's files.
    if taken and not (taken[0] == CONFIG and read_json(folder / CONFIG).get("model_type") == FORMAT):
        raise ValueError(f"{folder} has a {taken[0]} that is none of ours: choose another folder, or delete the file")


def _is_ours(name: str) -> bool:
    """Whether a file name is one that saving writes."""
    return name in (*DATA_FILES, CARD, FIGURE) or is_weights_file(name)
