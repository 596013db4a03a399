"""One safetensors file: written piece by piece with aligned tensors, read in place from the mapped file."""

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
from safetensors import SafetensorError, safe_open

from tipshare.checkpoint.checksums import FileSum
from tipshare.checkpoint.layout import CheckpointError
from tipshare.checkpoint.reading import open_file

DTYPES: dict[str, np.dtype] = {"F32": np.dtype(np.float32), "BF16": np.dtype(ml_dtypes.bfloat16)}
DTYPE_CODES = {dtype: code for code, dtype in DTYPES.items()}

# Arrays that start at a multiple of this can be used in place, straight from the mapped file.
ALIGNMENT = 64
LARGEST_HEADER = 4 * 2**20
# Elements looked at together: few enough for their copy to stay in a core's cache.
FINITE_BLOCK = 2**17
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
    """What a file holds, and where its tensors begin."""

    metadata: dict[str, str]
    tensors: dict[str, TensorEntry]
    data_start: int


def code_of(dtype: np.dtype) -> str:
    """What the format calls a type; training states hold others than weights do."""
    return DTYPE_CODES.get(dtype) or ("BOOL" if dtype.kind == "b" else f"{dtype.kind.upper()}{8 * dtype.itemsize}")


def write_file(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> FileSum:
    """Write a safetensors file and wait until it is on disk."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    # Those whose size keeps the next one aligned come first.
    names, offset = sorted(tensors, key=lambda name: (tensors[name].nbytes % ALIGNMENT != 0, name)), 0
    for name in names:
        array = tensors[name]
        span = [offset, offset + array.nbytes]
        header[name] = {"dtype": code_of(array.dtype), "shape": list(array.shape), "data_offsets": span}
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


def write_pieces(path: Path, pieces: Iterable[Any]) -> FileSum:
    """Write pieces of bytes one after the other and flush them to disk."""
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
            size += len(piece)
        file.flush()
        os.fsync(file.fileno())
    return FileSum(size, digest.hexdigest())


def read_header(path: Path) -> Header:
    """The checked header of a safetensors file; reads nothing else of it.

    The safetensors library checks that the header is well formed and that the tensors fill the rest of the file,
    without a hole and without sharing a byte. Before that, the file must be a regular one with a header of bounded
    size; after it, every tensor must have a dtype of weights.
    """
    name = path.name
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
    if length > LARGEST_HEADER:
        raise CheckpointError(f"{name} has a header of {length:,} bytes; at most {LARGEST_HEADER:,} are read")
    tensors: dict[str, TensorEntry] = {}
    start = 0
    try:
        with safe_open(path, "np") as opened:
            metadata = opened.metadata() or {}
            for tensor in opened.offset_keys():
                described = opened.get_slice(tensor)
                code, shape = described.get_dtype(), tuple(described.get_shape())
                if code not in DTYPES:
                    raise CheckpointError(
                        f"{name}: {tensor!r:.80} has dtype {code!r}; weights are {' or '.join(DTYPES)}"
                    )
                end = start + math.prod(shape) * DTYPES[code].itemsize
                tensors[tensor] = TensorEntry(DTYPES[code], shape, start, end)
                start = end
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{name} is truncated, or not a safetensors file: {str(error)[:200]}") from error
    return Header(metadata, tensors, size - start)


def view_tensor(mapped: mmap.mmap, header: Header, name: str) -> np.ndarray:
    """A tensor in place, without a copy."""
    entry = header.tensors[name]
    count = math.prod(entry.shape)
    return np.frombuffer(mapped, entry.dtype, count, header.data_start + entry.start).reshape(entry.shape)


def is_finite(array: np.ndarray) -> bool:
    """Whether a float32 or bfloat16 array is free of NaN and infinity."""
    # Their exponent bits are all ones; without the sign bit, which the shift drops, such numbers are the largest.
    bits, least = (np.uint16, 0xFF00) if array.dtype.itemsize == 2 else (np.uint32, 0xFF000000)
    numbers = array.reshape(-1).view(bits)
    return all(
        (numbers[start : start + FINITE_BLOCK] << 1).max(initial=0) < least
        for start in range(0, numbers.size, FINITE_BLOCK)
    )
