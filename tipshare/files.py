"""Files that are never half written, and one lock between processes."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BusyError(ValueError):
    """Another process holds the lock."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; on success it is flushed to disk and renamed, on error removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def remove_left_overs(path: Path) -> None:
    """Remove what killed processes left half written beside `path`; for a caller that nobody else writes it with."""
    for place in path.parent.glob(".*"):
        if place.name.startswith(f".{path.name}.") and place.suffix in (".tmp", ".new"):
            if place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file as a whole: a reader sees the old content or the new, never a part."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 as a whole: a reader sees the old text or the new, never a part."""
    write_bytes(path, text.encode())


def sync(path: Path) -> None:
    """Wait until a file's content, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the lock file at `path`; the system frees it when the process ends, however it ends.

    Args:
        wait: Wait for a process that holds it, instead of raising BusyError.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout as error:
        raise BusyError(f"another process holds {path}: wait for it, or stop it") from error
    try:
        yield
    finally:
        lock.release()
