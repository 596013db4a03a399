"""Checkpoints: one folder format on disk and on the Hub; `tipshare.checkpoint.layout` lists its files."""

from tipshare.checkpoint.layout import CheckpointError
from tipshare.checkpoint.load import Checkpoint, load, open_checkpoint, read_folder
from tipshare.checkpoint.locate import list_bundled, locate
from tipshare.checkpoint.names import name_tensors
from tipshare.checkpoint.record import RunRecord
from tipshare.checkpoint.save import save

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "RunRecord",
    "list_bundled",
    "load",
    "locate",
    "name_tensors",
    "open_checkpoint",
    "read_folder",
    "save",
]
