"""Write a model as a checkpoint folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tipshare.checkpoint import checksums, config_file
from tipshare.checkpoint.card import make_card
from tipshare.checkpoint.checksums import FileSum
from tipshare.checkpoint.container import DTYPE_CODES, is_finite, write_file, write_pieces
from tipshare.checkpoint.layout import (
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    CARD,
    CHECKSUMS,
    CONFIG,
    FORMAT,
    FORMAT_VERSION,
    INDEX,
    LARGEST_SHARD,
    RECORD,
    WEIGHTS,
)
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.private import check_private
from tipshare.checkpoint.publish_files import published_files
from tipshare.checkpoint.reading import dump_json, read_json
from tipshare.checkpoint.record import RunRecord
from tipshare.checkpoint.tokenizer_files import describe_files
from tipshare.files import sync
from tipshare.model.language_model import LanguageModel


def save(
    model: LanguageModel,
    folder: str | Path,
    record: RunRecord | Mapping[str, Any] | None = None,
    dtype: Any = None,
    *,
    largest_shard: int = LARGEST_SHARD,
) -> Path:
    """Write `model` to `folder` and return the folder; other files in it stay as they are.

    A new folder appears complete or not at all. In an older one, what an interrupted save leaves is either the old
    checkpoint or one that loading refuses.

    Args:
        record: The run that made the weights, as a `RunRecord` or its JSON fields; it fills the card.
        dtype: Store the weights as "float32" or "bfloat16"; None keeps the model's own.
        largest_shard: Bytes of weights in one file; more are split over several files.
    """
    folder = Path(folder)
    check_target(folder)
    record = check_record(record, model)
    tensors = _collect_tensors(model, dtype)
    stored_dtype = next(iter(tensors.values())).dtype
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "kind": model.config.kind,
        "record": record.id if record else "",
    }
    config = dump_json(config_file.describe(model.config, stored_dtype))
    unchecked = {**describe_files(model.config), CARD: make_card(model.config, record).encode()}
    with published_files(folder) as new:
        sums = write_weights(new, tensors, metadata, largest_shard)
        write_texts(new, sums, {CONFIG: config}, record, unchecked)
    return folder


def write_texts(
    folder: Path,
    sums: dict[str, FileSum],
    checked: dict[str, bytes],
    record: RunRecord | None,
    unchecked: dict[str, bytes],
) -> None:
    """Write all files but the weights, whose sums are given, and last the sums of all but the unchecked ones."""
    if record is not None:
        checked = {**checked, RECORD: dump_json(record.to_fields())}
    sums = {**sums, **{name: write_pieces(folder / name, [content]) for name, content in checked.items()}}
    for name, content in {**unchecked, CHECKSUMS: dump_json(checksums.describe(sums))}.items():
        write_pieces(folder / name, [content])
    sync(folder)


def write_weights(
    folder: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str], largest_shard: int
) -> dict[str, FileSum]:
    """Write one weights file, or several and their index; returns the sums of all of them."""
    shards = split_shards(tensors, largest_shard)
    if len(shards) == 1:
        return {WEIGHTS: write_file(folder / WEIGHTS, tensors, metadata)}
    sums, places = {}, {}
    for number, names in enumerate(shards, start=1):
        file_name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        shard = {name: tensors[name] for name in names}
        sums[file_name] = write_file(folder / file_name, shard, metadata)
        places.update(dict.fromkeys(names, file_name))
    total = sum(array.nbytes for array in tensors.values())
    index = dump_json({"metadata": {"total_size": total}, "weight_map": places})
    sums[INDEX] = write_pieces(folder / INDEX, [index])
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
    if model.adapters is not None:
        raise ValueError(
            "this model has adapters: tipshare.adapters.save writes them alone, and tipshare.adapters.merge makes them "
            "part of the weights"
        )
    if dtype is not None:
        model = model.astype(check_dtype(dtype))
    tensors = {name: np.asarray(leaf) for name, leaf in name_tensors(jax.device_get(model)).items()}
    dtypes = {str(array.dtype) for array in tensors.values()}
    if len(dtypes) > 1 or next(iter(tensors.values())).dtype not in DTYPE_CODES:
        raise ValueError(f"the weights are {', '.join(sorted(dtypes))}; pass dtype='float32' or dtype='bfloat16'")
    check_finite(tensors)
    return tensors


def check_finite(tensors: dict[str, np.ndarray]) -> None:
    """Raise ValueError if there is NaN or infinity in an array that is to be saved."""
    for name, array in tensors.items():
        if not is_finite(array):
            raise ValueError(f"{name} holds NaN or infinity: the saved model would be of no use, save an earlier step")


def check_dtype(dtype: Any) -> np.dtype:
    """float32 or bfloat16, given by name or as a type, or a ValueError."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    if name not in config_file.DTYPE_NAMES:
        raise ValueError(f"dtype={dtype!r} is not one of {', '.join(config_file.DTYPE_NAMES)}")
    return config_file.DTYPE_NAMES[name]


def check_record(record: RunRecord | Mapping[str, Any] | None, model: LanguageModel) -> RunRecord | None:
    if record is None:
        return None
    if not isinstance(record, RunRecord):
        record = RunRecord.from_fields(record)
    if record.kind != model.config.kind:
        raise ValueError(f"the record is of a {record.kind}, and the model is a {model.config.kind}")
    check_private(record.to_json(), RECORD)
    return record


def check_target(folder: Path, config: str = CONFIG, model_type: str = FORMAT) -> None:
    """Raise ValueError if saving would overwrite what is not of the same format; others use these file names too."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; a checkpoint is a folder")
    names = dict.fromkeys((config, CONFIG, ADAPTER_CONFIG, CARD, WEIGHTS, ADAPTER_WEIGHTS))
    taken = [name for name in names if (folder / name).exists()]
    if taken and not (taken[0] == config and read_json(folder / config).get("model_type") == model_type):
        raise ValueError(
            f"{folder} holds {taken[0]}, and no {config} of {model_type}: choose another folder, or delete it"
        )
