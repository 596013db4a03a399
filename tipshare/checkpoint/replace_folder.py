"""Put a finished folder in the place of an older one, so that no reader sees half of either."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced_folder(folder: Path, keep: Callable[[str], bool]) -> Iterator[Path]:
    """A temporary folder beside `folder` to fill; on success it takes the place of `folder`, on error it vanishes.

    Args:
        keep: Which entries of an older folder go over into the new one, by name, unless the new one has its own.
    """
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".new", dir=folder.parent))
    old = temporary.with_suffix(".old")
    try:
        yield temporary
        temporary.chmod(0o755)
        if folder.exists():
            _carry_over(folder, temporary, keep)
            folder.rename(old)
        temporary.rename(folder)
        sync_folder(folder.parent)
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _carry_over(source: Path, target: Path, keep: Callable[[str], bool]) -> None:
    for entry in source.iterdir():
        if keep(entry.name) and not (target / entry.name).exists():
            if entry.is_dir():
                shutil.copytree(entry, target / entry.name, symlinks=True)
            else:
                shutil.copy2(entry, target / entry.name, follow_symlinks=False)
