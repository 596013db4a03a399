"""Put finished files into a folder, so that a reader never takes half of them for a checkpoint."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def published_files(folder: Path, *, first: str, last: str, is_stale: Callable[[str], bool]) -> Iterator[Path]:
    """A temporary folder to fill; on success its files appear in `folder`, on error nothing there has changed.

    A new folder appears as a whole. In one that exists, other files stay as they are; `first` comes before the rest,
    and `last`, without which nobody reads the rest, is away until everything else is in place.

    Args:
        is_stale: Which files of an earlier save go, by name, if the new ones do not replace them.
    """
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".new", dir=folder.parent))
    try:
        yield temporary
        if not folder.exists():
            temporary.chmod(0o755)
            temporary.rename(folder)
        else:
            _replace_files(temporary, folder, first, last, is_stale)
        sync_folder(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _replace_files(source: Path, target: Path, first: str, last: str, is_stale: Callable[[str], bool]) -> None:
    (target / last).unlink(missing_ok=True)
    names = {entry.name for entry in source.iterdir()}
    for entry in list(target.iterdir()):
        if is_stale(entry.name) and entry.name not in names:
            entry.unlink()
    for name in sorted(names - {last}, key=lambda name: (name != first, name)):
        (source / name).replace(target / name)
    sync_folder(target)
    (source / last).replace(target / last)
    sync_folder(target)
