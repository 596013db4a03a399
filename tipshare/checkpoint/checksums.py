"""checksums.json: size, sha256 and fingerprint of every file that loading reads.

sha256 is what the Hub and other tools know; at the speed of memory it would take longer than all the rest of loading.
The fingerprint is the sha256 of two 64-bit words per mebibyte of the file: the sum and the exclusive or of its 64-bit
words (little-endian, the last padded with zeros). It finds damage: every flipped bit, every lost or moved block. It is
no defence against someone who means to deceive; neither is a sha256 that lies in the same folder.
"""

import hashlib
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tipshare.checkpoint.container import Header, map_file
from tipshare.checkpoint.errors import CheckpointError
from tipshare.checkpoint.layout import CHECKSUMS, CONFIG, FORMAT_VERSION, RECORD, is_weights_file

SHA256 = re.compile(r"[0-9a-f]{64}")
# Small enough to stay in a core's cache between summing it and looking for NaN.
BLOCK = 2**20
THREADS = 4
FIELDS = {"size", "sha256", "fingerprint"}


@dataclass(frozen=True)
class FileSum:
    """Size and sums of one file."""

    size: int
    sha256: str
    fingerprint: str


def sum_file(path: Path, size: int, sha256: str) -> FileSum:
    """The sums of a file whose size and sha256 were found while writing it."""
    return FileSum(size, sha256, _Fingerprint().update(map_file(path)).hexdigest())


def describe(sums: Mapping[str, FileSum]) -> dict[str, Any]:
    """The fields of checksums.json."""
    return {"format_version": FORMAT_VERSION, "files": {name: asdict(each) for name, each in sums.items()}}


def parse(fields: dict[str, Any]) -> dict[str, FileSum]:
    """The sums that `describe` wrote, by file name, or a CheckpointError."""
    if fields.get("format_version") != FORMAT_VERSION or set(fields) != {"format_version", "files"}:
        raise CheckpointError(f"{CHECKSUMS} must hold format_version {FORMAT_VERSION} and files")
    if not isinstance(fields["files"], dict):
        raise CheckpointError(f"{CHECKSUMS}: files must map names to sums")
    sums = {}
    for name, entry in fields["files"].items():
        if name not in (CONFIG, RECORD) and not is_weights_file(name):
            raise CheckpointError(f"{CHECKSUMS} names {name!r:.80}, which is not a file of a checkpoint")
        if not isinstance(entry, dict) or set(entry) != FIELDS:
            raise CheckpointError(f"{CHECKSUMS}: {name} needs exactly {', '.join(sorted(FIELDS))}")
        if type(entry["size"]) is not int or entry["size"] < 0:
            raise CheckpointError(f"{CHECKSUMS}: {name} has no valid size")
        for key in ("sha256", "fingerprint"):
            if not isinstance(entry[key], str) or not SHA256.fullmatch(entry[key]):
                raise CheckpointError(f"{CHECKSUMS}: {name} has no valid {key}")
        sums[name] = FileSum(**entry)
    return sums


def check_sizes(folder: Path, sums: Mapping[str, FileSum]) -> None:
    """Raise CheckpointError unless every file is there and as long as it should be."""
    for name, expected in sums.items():
        try:
            size = (folder / name).stat().st_size
        except OSError as error:
            raise CheckpointError(
                f"{name} is missing, although {CHECKSUMS} lists it: fetch or save it again"
            ) from error
        if size != expected.size:
            state = "truncated" if size < expected.size else "too long"
            raise CheckpointError(f"{name} is {state}: {size:,} bytes of {expected.size:,}; fetch or save it again")


def check_content(folder: Path, name: str, expected: FileSum) -> bytes:
    """The content of a small file, whose sha256 must be the expected one."""
    content = (folder / name).read_bytes()
    _compare(name, "sha256", hashlib.sha256(content).hexdigest(), expected.sha256)
    return content


def check_weights(folder: Path, headers: Mapping[str, Header], sums: Mapping[str, FileSum], *, full: bool) -> None:
    """Read all weights files, side by side; refuse changed ones, and those with NaN or infinity in them.

    Args:
        full: Compare the sha256 too, which takes several times as long.
    """

    def check(name: str) -> None:
        _check_weights_file(folder / name, headers[name], sums[name], full)

    with ThreadPoolExecutor(max_workers=min(THREADS, len(headers))) as pool:
        for _ in pool.map(check, headers):
            pass


def _check_weights_file(path: Path, header: Header, expected: FileSum, full: bool) -> None:
    content = memoryview(map_file(path))
    fingerprint, digest = _Fingerprint(), hashlib.sha256()
    dtype, finite = next(iter(header.tensors.values())).dtype, True
    for start in range(0, len(content), BLOCK):
        block = content[start : start + BLOCK]
        fingerprint.update(block)
        if full:
            digest.update(block)
        finite = finite and is_finite(np.frombuffer(block[max(header.data_start - start, 0) :], dtype))
    _compare(path.name, "fingerprint", fingerprint.hexdigest(), expected.fingerprint)
    if full:
        _compare(path.name, "sha256", digest.hexdigest(), expected.sha256)
    if not finite:
        raise CheckpointError(f"{path.name} holds NaN or infinity: training went wrong before it was saved")


def is_finite(array: np.ndarray) -> bool:
    """Whether a float32 or bfloat16 array is free of NaN and infinity, seen from the exponent bits."""
    bits, exponent = (np.uint16, 0x7F80) if array.dtype.itemsize == 2 else (np.uint32, 0x7F800000)
    return not bool(np.any((array.reshape(-1).view(bits) & exponent) == exponent))


class _Fingerprint:
    """The fingerprint of what `update` was given, in whole blocks except the last."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def update(self, content: Any) -> "_Fingerprint":
        view = memoryview(content)
        for start in range(0, len(view), BLOCK):
            block = view[start : start + BLOCK]
            whole = len(block) // 8 * 8
            words, rest = np.frombuffer(block[:whole], "<u8"), bytes(block[whole:])
            last = int.from_bytes(rest, "little")
            total = (int(np.add.reduce(words)) + last) % 2**64
            self._digest.update(total.to_bytes(8, "little"))
            self._digest.update((int(np.bitwise_xor.reduce(words)) ^ last).to_bytes(8, "little"))
        return self

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def _compare(name: str, kind: str, found: str, expected: str) -> None:
    if found != expected:
        raise CheckpointError(
            f"{name} is damaged or was changed: its {kind} is {found[:12]}..., but {CHECKSUMS} says "
            f"{expected[:12]}...; fetch or save it again"
        )
