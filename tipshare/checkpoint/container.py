"""One safetensors file: written in a stream, read as a map of the file, its header checked to the last byte."""

import hashlib
import json
import math
import mmap
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tipshare.checkpoint.errors import CheckpointError
from tipshare.checkpoint.strict_json import parse_json

DTYPES: dict[str, np.dtype] = {"F32": np.dtype(np.float32), "BF16": np.dtype(ml_dtypes.bfloat16)}
DTYPE_CODES = {dtype: code for code, dtype in DTYPES.items()}

# Arrays that start at a multiple of this can be used in place, straight from the mapped file.
ALIGNMENT = 64
LARGEST_HEADER = 4 * 2**20
LARGEST_DIMENSIONS = 16
LENGTH_BYTES = 8


@dataclass(frozen=True)
class TensorEntry:
    """Where a tensor lies in its file: bytes `start` to `end` after the header."""

    dtype: np.dtype
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Header:
    """What the head of a file says, checked against the file's size."""

    metadata: dict[str, str]
    tensors: dict[str, TensorEntry]
    data_start: int


def order_tensors(tensors: Mapping[str, np.ndarray]) -> list[str]:
    """Names in file order: those whose size keeps the next one aligned come first."""
    return sorted(tensors, key=lambda name: (tensors[name].nbytes % ALIGNMENT != 0, name))


def write_file(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> tuple[int, str]:
    """Write a safetensors file and wait until it is on disk; returns its size and sha256."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    names, offset = order_tensors(tensors), 0
    for name in names:
        array = tensors[name]
        span = [offset, offset + array.nbytes]
        header[name] = {"dtype": DTYPE_CODES[array.dtype], "shape": list(array.shape), "data_offsets": span}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    # Spaces after the header are part of the format; they make the data begin at a multiple of ALIGNMENT.
    text += b" " * (-(LENGTH_BYTES + len(text)) % ALIGNMENT)
    pieces: Iterable[Any] = (
        len(text).to_bytes(LENGTH_BYTES, "little"),
        text,
        *(np.ascontiguousarray(tensors[name]).reshape(-1).view(np.uint8).data for name in names),
    )
    return write_pieces(path, pieces)


def write_pieces(path: Path, pieces: Iterable[Any]) -> tuple[int, str]:
    """Write pieces of bytes one after the other, flush them to disk, and return the size and sha256 of it all."""
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
            size += len(piece)
        file.flush()
        os.fsync(file.fileno())
    return size, digest.hexdigest()


def read_header(path: Path) -> Header:
    """The checked header of a safetensors file; reads nothing else of it."""
    name = path.name
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            prefix = file.read(LENGTH_BYTES)
            length = int.from_bytes(prefix, "little")
            if len(prefix) < LENGTH_BYTES or length > size - LENGTH_BYTES:
                raise CheckpointError(f"{name} is truncated: it ends before its header does")
            if length > LARGEST_HEADER:
                raise CheckpointError(f"{name} has a header of {length:,} bytes; at most {LARGEST_HEADER:,} are read")
            text = file.read(length)
    except FileNotFoundError as error:
        raise CheckpointError(f"{name} is missing: this folder is not a complete checkpoint") from error
    except OSError as error:
        raise CheckpointError(f"{name} cannot be read: {error.strerror}") from error
    fields = parse_json(text, f"the header of {name}")
    metadata = fields.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise CheckpointError(f"{name}: the header's metadata must map names to texts")
    tensors = {tensor: _check_entry(f"{name}: {tensor!r}", entry) for tensor, entry in fields.items()}
    _check_cover(name, tensors, size - LENGTH_BYTES - length)
    return Header(metadata, tensors, LENGTH_BYTES + length)


def map_file(path: Path) -> mmap.mmap:
    """The file as read-only memory, filled from disk when it is used."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def view_tensor(mapped: mmap.mmap, header: Header, name: str) -> np.ndarray:
    """A tensor in place, without a copy."""
    entry = header.tensors[name]
    count = math.prod(entry.shape)
    return np.frombuffer(mapped, entry.dtype, count, header.data_start + entry.start).reshape(entry.shape)


def _check_entry(where: str, entry: Any) -> TensorEntry:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise CheckpointError(f"{where} needs exactly dtype, shape and data_offsets in the header")
    code, shape, span = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        raise CheckpointError(f"{where} has dtype {code!r}; weights are {' or '.join(DTYPES)}")
    if not _is_size_list(shape) or len(shape) > LARGEST_DIMENSIONS:
        raise CheckpointError(f"{where} has shape {str(shape)[:80]}, which is not a list of sizes")
    if not _is_size_list(span) or len(span) != 2:
        raise CheckpointError(f"{where} has data_offsets {str(span)[:80]}, which are not a start and an end")
    needed = math.prod(shape) * DTYPES[code].itemsize
    if span[1] - span[0] != needed:
        raise CheckpointError(f"{where} has {span[1] - span[0]:,} bytes, but its shape {shape} needs {needed:,}")
    return TensorEntry(DTYPES[code], tuple(shape), span[0], span[1])


def _is_size_list(value: Any) -> bool:
    # Bounded sizes keep products of a hostile header from growing without end.
    return isinstance(value, list) and all(type(each) is int and 0 <= each < 2**63 for each in value)


def _check_cover(name: str, tensors: dict[str, TensorEntry], data_size: int) -> None:
    """The tensors must fill the rest of the file, without a hole and without sharing a byte."""
    end = 0
    for tensor, entry in sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end)):
        if entry.start != end:
            raise CheckpointError(f"{name}: {tensor!r} starts at byte {entry.start:,}, where {end:,} was due")
        end = entry.end
    if end != data_size:
        state = "truncated" if data_size < end else "too long"
        raise CheckpointError(f"{name} is {state}: its tensors need {end:,} bytes and it has {data_size:,}")
