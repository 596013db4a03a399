"""checksums.json: size and sha256 of every file that loading reads.

A changed byte in any of those files is noticed when a checkpoint is loaded, unless the caller passes `verify=False`.
The sums find damage and mix-ups; they do not protect against someone who changes a file and its sum together.

Files written before version 2 also hold a `fingerprint` for each file, which is no longer read.
"""

import hashlib
import mmap
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Any

from tipshare.checkpoint.layout import (
    ADAPTER_CONFIG,
    CHECKSUMS,
    CONFIG,
    LARGEST_JSON,
    RECORD,
    CheckpointError,
    is_weights_file,
)
from tipshare.checkpoint.reading import read_file, read_json, size_of

VERSION = 2
# The fields of a file's entry, by version.
FIELDS = {1: {"size", "sha256", "fingerprint"}, 2: {"size", "sha256"}}
SHA256 = re.compile(r"[0-9a-f]{64}")
THREADS = 4
# Hashing can be stopped between blocks; with smaller ones it would wait for Python's lock too often.
BLOCK = 64 * 2**20


@dataclass(frozen=True)
class FileSum:
    """Size and sha256 of one file."""

    size: int
    sha256: str


def describe(sums: Mapping[str, FileSum]) -> dict[str, Any]:
    """The fields of checksums.json."""
    return {"format_version": VERSION, "files": {name: asdict(each) for name, each in sums.items()}}


def parse(fields: dict[str, Any]) -> dict[str, FileSum]:
    """The sums that `describe` wrote, by file name, or a CheckpointError."""
    version = fields.get("format_version")
    if type(version) is not int or version not in FIELDS or set(fields) != {"format_version", "files"}:
        raise CheckpointError(f"{CHECKSUMS} must hold files and a format_version of {' or '.join(map(str, FIELDS))}")
    if not isinstance(fields["files"], dict):
        raise CheckpointError(f"{CHECKSUMS}: files must map names to sums")
    sums = {}
    for name, entry in fields["files"].items():
        if name not in (CONFIG, RECORD, ADAPTER_CONFIG) and not is_weights_file(name):
            raise CheckpointError(f"{CHECKSUMS} names {name!r:.80}, which is not a file of a checkpoint")
        sums[name] = parse_sum(f"{CHECKSUMS}: {name}", entry, FIELDS[version])
    return sums


def parse_sum(what: str, entry: Any, fields: set[str] = FIELDS[VERSION]) -> FileSum:
    """The size and sha256 of one file, or a CheckpointError."""
    if not isinstance(entry, dict) or set(entry) != fields:
        raise CheckpointError(f"{what} needs exactly {', '.join(sorted(fields))}")
    if type(entry["size"]) is not int or entry["size"] < 0:
        raise CheckpointError(f"{what} has no valid size")
    if not isinstance(entry["sha256"], str) or not SHA256.fullmatch(entry["sha256"]):
        raise CheckpointError(f"{what} has no valid sha256")
    return FileSum(entry["size"], entry["sha256"])


def read_sums(folder: Path) -> dict[str, FileSum]:
    """The sums of a folder, in which every listed file must be a regular one of the listed size."""
    sums = parse(read_json(folder / CHECKSUMS))
    for name, expected in sums.items():
        check_size(folder / name, expected)
    return sums


def check_size(path: Path, expected: FileSum) -> None:
    """Raise CheckpointError unless a file is a regular one of the expected size."""
    size = size_of(path)
    if size != expected.size:
        state = "truncated" if size < expected.size else "too long"
        raise CheckpointError(f"{path.name} is {state}: {size:,} bytes of {expected.size:,}; fetch or save it again")


def read_checked(folder: Path, name: str, sums: Mapping[str, FileSum]) -> bytes:
    """The content of a small file, whose sha256 must be the listed one."""
    content = read_file(folder / name, LARGEST_JSON)
    _check_sha256(name, hashlib.sha256(content).hexdigest(), sums[name])
    return content


def _check_sha256(name: str, found: str, expected: FileSum) -> None:
    if found != expected.sha256:
        raise CheckpointError(
            f"{name} is damaged or was changed: its sha256 is {found[:12]}..., but it was written with "
            f"{expected.sha256[:12]}...; fetch or save it again"
        )


@contextmanager
def verifying(files: Mapping[str, mmap.mmap], sums: Mapping[str, FileSum]) -> Iterator[None]:
    """Hash files in other threads while the block runs; it ends with a CheckpointError if one of them was changed."""
    given_up = Event()

    def digest(file: mmap.mmap) -> str:
        content, found = memoryview(file), hashlib.sha256()
        for start in range(0, len(content), BLOCK):
            if given_up.is_set():
                break
            found.update(content[start : start + BLOCK])
        return found.hexdigest()

    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        digests = {name: pool.submit(digest, file) for name, file in files.items()}
        try:
            yield
        except BaseException:
            given_up.set()
            raise
        for name, found in digests.items():
            _check_sha256(name, found.result(), sums[name])
