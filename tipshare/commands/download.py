"""`tipshare download`: fetch a checkpoint from the Hub and check it."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tipshare.commands.options import Revision


@dataclass(frozen=True, kw_only=True)
class Download:
    """Fetch a checkpoint from the Hugging Face Hub and compare every file with its sha256."""

    repository: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="REPOSITORY")]
    """A Hub id such as organisation/name."""
    revision: Revision = None
    """Branch, tag or commit."""
    to: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Copy it to this new folder; without it, the checkpoint stays in the cache of the Hub client."""

    def run(self) -> int:
        from tipshare.checkpoint import open_checkpoint
        from tipshare.checkpoint.hub import list_files
        from tipshare.checkpoint.publish_files import published_files

        if self.to is not None and self.to.exists():
            raise ValueError(f"{self.to} exists: choose a new folder")
        checkpoint = open_checkpoint(self.repository, revision=self.revision)
        checkpoint.verify()
        folder = checkpoint.folder
        if self.to is not None:
            folder = self.to
            with published_files(folder) as new:
                for name, path in list_files(checkpoint).items():
                    shutil.copyfile(path, new / name)
        print(f"{self.repository} ({checkpoint.config.kind}, from {checkpoint.origin}): {folder}")
        return 0
