"""The models the page can show: bundled checkpoints, and those that visitors fetch from the Hub."""

import json
import re
import secrets
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tipshare.checkpoint import Checkpoint, RunRecord, list_bundled, open_checkpoint, read_folder
from tipshare.checkpoint.locate import bundle_folder
from tipshare.config import ModelConfig
from tipshare.kinds import colour_of, rank_of, title_of
from tipshare.model.language_model import LanguageModel
from tipshare.model.parameters import count_parameters

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
# A limit for visitors' models, so that one visitor cannot use all memory.
MOST_PARAMETERS = 400_000_000
# Number of fetched models that are kept; the one that was fetched first is dropped.
MOST_ADDED = 8


@dataclass(frozen=True)
class Listing:
    """What is known of a model before its weights are loaded.

    Attributes:
        name: A bundled folder's name, or a Hub id.
        label: The name that readers see; unique on the shelf.
        record: The run that made the weights, if it is known.
    """

    name: str
    label: str
    config: ModelConfig
    record: RunRecord | None

    @property
    def kind(self) -> str:
        return self.config.kind

    @property
    def colour(self) -> str:
        return colour_of(self.kind)

    @property
    def stored(self) -> int:
        """Parameters that the checkpoint holds."""
        return _count(self.config, False)

    @property
    def effective(self) -> int:
        """Parameters of the frozen model: the weights of all depth steps, without gates and hypernetworks."""
        return _count(self.config, True)

    @property
    def loss(self) -> float | None:
        """Validation loss in nats per byte, as recorded."""
        return None if self.record is None else self.record.final.get("valid_loss")


@dataclass(frozen=True)
class Entry(Listing):
    """A model that is ready to run."""

    model: LanguageModel


class ModelShelf:
    """Models by name; weights are read on first use and kept. Safe to share between threads."""

    def __init__(self, *, use_login: bool = False) -> None:
        """An empty shelf but for the bundled models.

        Args:
            use_login: Let visitors fetch what the Hub login of this machine may read. Not for a public page.
        """
        self._use_login = use_login
        self._guard = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self._checkpoints: dict[str, Checkpoint] = {}
        self._models: dict[str, LanguageModel] = {}
        self._added: list[str] = []
        self._owned: dict[str, list[str]] = {}

    def names(self, visitor: str = "") -> list[str]:
        """Bundled models, ordered by kind, then those that were added, then what only this visitor sees."""
        with self._guard:
            added = [*self._added, *self._owned.get(visitor, ())]
        return [*sorted(list_bundled(), key=_bundled_order), *added]

    def put_for(self, visitor: str, folder: Path, title: str) -> str:
        """Put a checkpoint of a visitor's own on the shelf, listed for them alone; returns the name to `get` it by.

        The name cannot be guessed, so whoever knows it may use the model.
        """
        checkpoint = read_folder(folder)
        name = f"{title}-{secrets.token_hex(8)}"
        with self._guard:
            self._checkpoints[name] = checkpoint
            self._owned.setdefault(visitor, []).append(name)
        return name

    def remove_for(self, visitor: str, name: str) -> None:
        """Take a visitor's own model off the shelf; one that is not there does no harm."""
        with self._guard:
            kept = [each for each in self._owned.pop(visitor, ()) if each != name]
            if kept:
                self._owned[visitor] = kept
            self._checkpoints.pop(name, None)
            self._models.pop(name, None)
            self._loading.pop(name, None)

    def add(self, source: str) -> str:
        """Put a model on the shelf by its Hub id or bundled name; returns the name to `get` it by."""
        source = source.strip()
        if source in list_bundled():
            self._open(source)
            return source
        if not HUB_ID.fullmatch(source):
            bundled = ", ".join(sorted(list_bundled(), key=_bundled_order)) or "none"
            raise ValueError(
                f"{source[:80]!r} is neither a Hub id of the form organisation/name nor a bundled model ({bundled})"
            )
        self._open(source)
        with self._guard:
            if source not in self._added:
                self._added.append(source)
            dropped = self._added[:-MOST_ADDED]
            self._added = self._added[-MOST_ADDED:]
            for name in dropped:
                self._checkpoints.pop(name, None)
                self._models.pop(name, None)
        return source

    def label(self, name: str) -> str:
        """The kind's title, or the record's label; with the model's name if another model has the same title."""
        title = self._title(name)
        if self._is_owned(name):
            return f"{title} ({name.rpartition('-')[0]})"
        titles = [self._title(each) for each in self.names()]
        return title if titles.count(title) <= 1 else f"{title} ({name})"

    def choices(self, visitor: str = "") -> list[tuple[str, str]]:
        """Label and name of every model that a visitor sees, as Gradio's lists take them."""
        return [(self.label(name), name) for name in self.names(visitor)]

    def describe(self, name: str) -> Listing:
        """What is known of a model without reading its weights."""
        checkpoint = self._open(self._known(name))
        return Listing(name, self.label(name), checkpoint.config, checkpoint.record)

    def get(self, name: str) -> Entry:
        """A model that is ready to run; its weights are read the first time."""
        listing = self.describe(name)
        with self._lock_of(name):
            model = self._models.get(name)
            if model is None:
                # bfloat16 is for small files; on a CPU, float32 is faster and more exact.
                model = self._open(name).load("float32")
                self._models[name] = model
        return Entry(name, listing.label, listing.config, listing.record, model)

    def _known(self, name: str) -> str:
        names = self.names()
        if name not in names and not self._is_owned(name):
            raise ValueError(
                f"there is no model {str(name)[:80]!r} on the shelf; there are {', '.join(names) or 'none'}"
            )
        return name

    def _is_owned(self, name: str) -> bool:
        with self._guard:
            return any(name in names for names in self._owned.values())

    def _lock_of(self, name: str) -> threading.Lock:
        with self._guard:
            return self._loading.setdefault(name, threading.Lock())

    def _open(self, name: str) -> Checkpoint:
        with self._lock_of(f"{name} opened"):
            checkpoint = self._checkpoints.get(name)
            if checkpoint is None:
                checkpoint = self._find(name)
                self._checkpoints[name] = checkpoint
        return checkpoint

    def _find(self, name: str) -> Checkpoint:
        if name in list_bundled():
            return read_folder(bundle_folder() / name, "bundle")
        # With a revision, the name is never taken for a local folder.
        checkpoint = open_checkpoint(name, revision="main", token=None if self._use_login else False)
        count = count_parameters(checkpoint.shapes).total
        if count > MOST_PARAMETERS:
            raise ValueError(
                f"{name} has {count:,} parameters; this page takes at most {MOST_PARAMETERS:,}. "
                f"In Python, tipshare.load({name!r}) takes any number"
            )
        return checkpoint

    def _title(self, name: str) -> str:
        checkpoint = self._checkpoints.get(name)
        if checkpoint is None:
            return title_of(_bundled_kind(name) or name)
        return title_of(checkpoint.record.model if checkpoint.record else checkpoint.config.kind)


@cache
def _count(config: ModelConfig, frozen: bool) -> int:
    return count_parameters(config, frozen=frozen).total


def _bundled_kind(name: str) -> str | None:
    """The kind that a bundled folder's config names, without checking the folder; None if it cannot be read."""
    try:
        fields = json.loads((Path(bundle_folder()) / name / "config.json").read_text(encoding="utf-8"))
        return str(fields["model"]["kind"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _bundled_order(name: str) -> tuple[int, str]:
    return rank_of(_bundled_kind(name) or ""), name
