"""Reading what came from somewhere else: regular files inside their folder, and strict JSON, both of bounded size."""

import json
import mmap
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tipshare.checkpoint.layout import LARGEST_JSON, CheckpointError


def open_file(path: Path) -> BinaryIO:
    """Open a regular file of a checkpoint folder for reading, or raise CheckpointError.

    A pipe or a device could be read without end, and a link out of the folder could show any file of this machine.
    """
    _check_inside(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise CheckpointError(f"{path.name} is not a regular file: a checkpoint holds no folders, pipes or devices")
        return path.open("rb")
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.name} is missing: fetch or save the checkpoint again") from error
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read: {error.strerror}") from error


def size_of(path: Path) -> int:
    """Bytes of a regular file of a checkpoint folder."""
    with open_file(path) as file:
        return os.fstat(file.fileno()).st_size


def read_file(path: Path, most: int) -> bytes:
    """The content of a file of a checkpoint folder, which may have at most `most` bytes."""
    with open_file(path) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise CheckpointError(f"{path.name} cannot be read: {error.strerror}") from error
    if len(content) > most:
        raise CheckpointError(f"{path.name} has more than the {most:,} bytes that are read")
    return content


def map_file(path: Path) -> mmap.mmap:
    """A file of a checkpoint folder as read-only memory, filled from disk when it is used."""
    with open_file(path) as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
            raise CheckpointError(f"{path.name} cannot be read: {error}") from error


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint."""
    return parse_json(read_file(path, LARGEST_JSON), path.name)


def parse_json(content: str | bytes, name: str) -> dict[str, Any]:
    """The JSON object that `content` holds, or a CheckpointError that calls it by `name`."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        parsed = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys)
    except (ValueError, RecursionError) as error:  # ValueError: bad UTF-8, bad JSON, whole numbers of too many digits
        raise CheckpointError(f"{name} is not valid JSON: {str(error)[:200]}") from error
    if not isinstance(parsed, dict):
        raise CheckpointError(f"{name} must be a JSON object, not {type(parsed).__name__}")
    return parsed


def check_keys(what: str, fields: Mapping[str, Any], known: set[str]) -> None:
    """Raise CheckpointError unless a JSON object has exactly the known keys."""
    missing, extra = sorted(known - set(fields)), sorted(map(str, set(fields) - known))
    if missing or extra:
        raise CheckpointError(f"{what}: missing {missing or 'nothing'}, unknown {str(extra or 'nothing')[:200]}")


def dump_json(fields: dict[str, Any]) -> bytes:
    """A JSON object as the bytes of a file; the same fields always give the same bytes."""
    return (json.dumps(fields, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n").encode()


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key appears twice")
    return fields


def _check_inside(path: Path) -> None:
    """Refuse links that lead out of the folder."""
    folder, target = Path(os.path.realpath(path.parent)), Path(os.path.realpath(path))
    if target.parent == folder:
        return
    # The Hub client's cache keeps the files of a snapshot in `blobs`, and links to them in `snapshots/<commit>`.
    if folder.parent.name == "snapshots" and target.is_relative_to(folder.parents[1] / "blobs"):
        return
    raise CheckpointError(f"{path.name} is a link out of its folder: put the file itself there")
