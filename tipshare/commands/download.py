"""`python -m tipshare download REPO`: fetch a checkpoint from the Hub and check it."""

import argparse
import shutil
from pathlib import Path
from typing import Any

from tipshare.checkpoint import open_checkpoint
from tipshare.checkpoint.hub import list_files


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser("download", help="fetch a checkpoint from the Hub and check it")
    parser.add_argument("repository", help="a Hub id such as organisation/name")
    parser.add_argument("--revision", help="branch, tag or commit")
    parser.add_argument("--to", type=Path, help="copy it to this new folder; by default it stays in the cache")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.to is not None and args.to.exists():
        raise ValueError(f"{args.to} exists: choose a new folder")
    checkpoint = open_checkpoint(args.repository, revision=args.revision)
    checkpoint.verify()
    folder = checkpoint.folder
    if args.to is not None:
        folder = args.to
        folder.mkdir(parents=True)
        for name, path in list_files(checkpoint).items():
            shutil.copyfile(path, folder / name)
    print(f"{args.repository} ({checkpoint.config.kind}, from {checkpoint.origin}): {folder}")
    return 0
