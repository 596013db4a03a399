"""Put the files of a checkpoint into a folder, so that a reader never takes half of them for a whole one."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tipshare.checkpoint.layout import CHECKSUMS, CONFIG, is_checkpoint_file
from tipshare.files import sync


@contextmanager
def published_files(folder: Path) -> Iterator[Path]:
    """A temporary folder to fill; on success its files appear in `folder`, on error nothing there has changed.

    A new folder appears as a whole. In one that exists, files of an earlier checkpoint are replaced or deleted and
    others stay; the checksums, without which no reader accepts the folder, are missing until all is in place.
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
            _replace_files(temporary, folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _replace_files(source: Path, target: Path) -> None:
    (target / CHECKSUMS).unlink(missing_ok=True)
    names = {entry.name for entry in source.iterdir()}
    for entry in list(target.iterdir()):
        if is_checkpoint_file(entry.name) and entry.name not in names:
            entry.unlink()
    # The config comes first: by it, an interrupted save can be told from someone else's files.
    for name in sorted(names - {CHECKSUMS}, key=lambda name: (name != CONFIG, name)):
        (source / name).replace(target / name)
    sync(target)
    (source / CHECKSUMS).replace(target / CHECKSUMS)
    sync(target)
