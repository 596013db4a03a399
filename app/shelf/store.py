"""Checkpoints that are open and models that are loaded, shared by all visitors and bounded in bytes."""

import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.shelf.limits import MOST_KEPT_BYTES, MOST_WEIGHTS, check_demand
from tipshare.checkpoint import Checkpoint, list_bundled, open_checkpoint, read_folder
from tipshare.checkpoint.layout import LARGEST_JSON
from tipshare.checkpoint.locate import bundle_folder
from tipshare.model.language_model import LanguageModel
from tipshare.model.parameters import count_parameters


class Kept:
    """One checkpoint: opened once, and loaded once.

    What is dropped from the store while it loads lives on only for those who wait for it.
    """

    def __init__(self, name: str, find: Callable[[], Checkpoint], folder: Path | None = None) -> None:
        """A checkpoint that is not open yet; `folder` is where its download goes, if it has one."""
        self.name, self.folder = name, folder
        # Set once it is open.
        self.checkpoint: Checkpoint | None = None
        self._find = find
        self._lock = threading.Lock()
        self._model: LanguageModel | None = None

    @property
    def size(self) -> int:
        """Bytes on disk and in memory, where weights that are stored as float32 are those of the file."""
        return 4 * count_parameters(self.checkpoint.shapes).total if self.checkpoint else 0

    def open(self) -> Checkpoint:
        with self._lock:
            if self.checkpoint is None:
                self.checkpoint = self._find()
            return self.checkpoint

    def load(self) -> LanguageModel:
        checkpoint = self.open()
        with self._lock:
            if self._model is None:
                # bfloat16 is for small files; on a CPU, float32 is faster and more exact.
                self._model = checkpoint.load("float32")
            return self._model


class ModelStore:
    """Checkpoints by name; safe to share between threads."""

    def __init__(self, *, use_login: bool = False) -> None:
        self._use_login = use_login
        self._guard = threading.Lock()
        self._bundled: dict[str, Kept] = {}
        # The one that was used last comes last.
        self._fetched: OrderedDict[str, Kept] = OrderedDict()
        self._folder = Path(tempfile.mkdtemp(prefix="tipshare-fetched-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def has(self, name: str) -> bool:
        """Whether a fetched model is here."""
        with self._guard:
            return name in self._fetched

    def known(self, name: str) -> Checkpoint | None:
        """A checkpoint that is open already; nothing is opened for it."""
        with self._guard:
            kept = self._bundled.get(name) or self._fetched.get(name)
        return None if kept is None else kept.checkpoint

    def fetch(self, name: str) -> None:
        """Download and open a checkpoint from the Hub, unless it is here."""
        with self._guard:
            kept = self._fetched.get(name)
            if kept is None:
                folder = Path(tempfile.mkdtemp(dir=self._folder))
                kept = self._fetched[name] = Kept(name, partial(self._download, name, folder), folder)
            self._fetched.move_to_end(name)
        try:
            kept.open()
        except BaseException:
            self._drop(kept)
            raise
        self._make_room(kept)

    def find(self, name: str) -> Kept:
        """What is bundled or was fetched."""
        bundled = name in list_bundled()
        with self._guard:
            if bundled:
                return self._bundled.setdefault(name, Kept(name, partial(_read_bundled, name)))
            if name not in self._fetched:
                raise ValueError(f"{name} was dropped to make room for other models: load it again")
            self._fetched.move_to_end(name)
            return self._fetched[name]

    def _download(self, name: str, folder: Path) -> Checkpoint:
        # With a revision, the name is never taken for a local folder.
        checkpoint = open_checkpoint(
            name,
            revision="main",
            cache_dir=folder,
            token=None if self._use_login else False,
            most_bytes=MOST_WEIGHTS + LARGEST_JSON,
        )
        check_demand(name, checkpoint)
        return checkpoint

    def _make_room(self, newest: Kept) -> None:
        """Drop what was used least recently, until the rest is small enough."""
        with self._guard:
            others = [each for each in self._fetched.values() if each is not newest]
            total, dropped = newest.size + sum(each.size for each in others), []
            while total > MOST_KEPT_BYTES and others:
                dropped.append(others.pop(0))
                total -= dropped[-1].size
        for each in dropped:
            self._drop(each)

    def _drop(self, kept: Kept) -> None:
        with self._guard:
            if self._fetched.get(kept.name) is kept:
                del self._fetched[kept.name]
        # Weights that somebody still reads from a mapped file stay readable.
        if kept.folder is not None:
            shutil.rmtree(kept.folder, ignore_errors=True)


def _read_bundled(name: str) -> Checkpoint:
    return read_folder(bundle_folder() / name, "bundle")
