"""Checkpoints that are open and models that are loaded, shared by all visitors and bounded in bytes."""

import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from pathlib import Path

from app.shelf.compiled import CompiledCode
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

    def __init__(self, name: str, folder: Path | None) -> None:
        """A checkpoint that is not open yet; `folder` is where its download goes, None for a bundled one."""
        self.name, self.folder = name, folder
        self.size = 0
        self._lock = threading.Lock()
        self._checkpoint: Checkpoint | None = None
        self._model: LanguageModel | None = None

    def open(self, use_login: bool) -> Checkpoint:
        with self._lock:
            if self._checkpoint is None:
                self._checkpoint = self._find(use_login)
            return self._checkpoint

    def load(self, use_login: bool) -> LanguageModel:
        checkpoint = self.open(use_login)
        with self._lock:
            if self._model is None:
                # bfloat16 is for small files; on a CPU, float32 is faster and more exact.
                self._model = checkpoint.load("float32")
            return self._model

    def _find(self, use_login: bool) -> Checkpoint:
        if self.folder is None:
            return read_folder(bundle_folder() / self.name, "bundle")
        # With a revision, the name is never taken for a local folder.
        checkpoint = open_checkpoint(
            self.name,
            revision="main",
            cache_dir=self.folder,
            token=None if use_login else False,
            most_bytes=MOST_WEIGHTS + LARGEST_JSON,
        )
        check_demand(self.name, checkpoint)
        # On disk and in memory, where weights that are stored as float32 are those of the file.
        self.size = 4 * count_parameters(checkpoint.shapes).total
        return checkpoint


class ModelStore:
    """Checkpoints by name; safe to share between threads."""

    def __init__(self, *, use_login: bool = False) -> None:
        self._use_login = use_login
        self._code = CompiledCode()
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
        return None if kept is None else kept._checkpoint

    def fetch(self, name: str) -> None:
        """Download and open a checkpoint from the Hub, unless it is here."""
        with self._guard:
            kept = self._fetched.get(name)
            if kept is None:
                kept = self._fetched[name] = Kept(name, Path(tempfile.mkdtemp(dir=self._folder)))
            self._fetched.move_to_end(name)
        try:
            kept.open(self._use_login)
        except BaseException:
            self._drop(kept)
            raise
        self._make_room(kept)

    def open(self, name: str) -> Checkpoint:
        """A checkpoint that is bundled or was fetched."""
        return self._find(name).open(self._use_login)

    def load(self, name: str) -> LanguageModel:
        """The model of such a checkpoint."""
        self._code.make_room()
        return self._find(name).load(self._use_login)

    def _find(self, name: str) -> Kept:
        bundled = name in list_bundled()
        with self._guard:
            if bundled:
                return self._bundled.setdefault(name, Kept(name, None))
            if name not in self._fetched:
                raise ValueError(f"{name} was dropped to make room for other models: load it again")
            self._fetched.move_to_end(name)
            return self._fetched[name]

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
