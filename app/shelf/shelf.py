"""What a visitor sees: the bundled models, and those that this visitor fetched from the Hub."""

import contextlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from app.shelf.compiled import CompiledCode
from app.shelf.listing import Entry, Listing
from app.shelf.own import OwnModels
from app.shelf.store import Kept, ModelStore
from tipshare.checkpoint import Checkpoint, list_bundled
from tipshare.checkpoint.layout import CONFIG, RECORD
from tipshare.checkpoint.locate import bundle_folder
from tipshare.kinds import colour_of, rank_of, title_of

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
# Fetched models in a visitor's lists, and visitors whose lists are kept; the oldest go first.
MOST_ADDED = 8
MOST_VISITORS = 2_000
NOBODY = ""


class ModelShelf:
    """Models by name, as one visitor sees them; weights are read on first use. Safe to share between threads.

    What a visitor fetches is in this visitor's lists alone; two who fetch the same model share its memory.
    """

    def __init__(self, *, use_login: bool = False) -> None:
        """The shelf of nobody in particular, with the bundled models.

        Args:
            use_login: Let visitors fetch what the Hub login of this machine may read. Not for a public page.
        """
        self.use_login = use_login
        self._store = ModelStore(use_login=use_login)
        self._code = CompiledCode()
        self._guard = threading.Lock()
        # The names that every visitor added.
        self._added: OrderedDict[str, list[str]] = OrderedDict()
        self._own = OwnModels()
        self._visitor = NOBODY

    def of(self, visitor: str | None) -> "ModelShelf":
        """The same shelf as a visitor sees it, by the session of their page."""
        shelf = object.__new__(ModelShelf)
        shelf.__dict__.update(self.__dict__, _visitor=visitor or NOBODY)
        return shelf

    def names(self) -> list[str]:
        """Bundled models, ordered by kind, then those that the visitor added, then the visitor's own."""
        with self._guard:
            added = list(self._added.get(self._visitor, ()))
        added = [name for name in added if self._store.has(name)]
        return [*sorted(list_bundled(), key=_bundled_order), *added, *self._own.names(self._visitor)]

    def add(self, source: str) -> str:
        """Put a model on the visitor's shelf by its Hub id or bundled name; returns the name to `get` it by."""
        source = _checked(source).strip()
        if source in list_bundled():
            self._store.find(source).open()
            return source
        if not HUB_ID.fullmatch(source):
            bundled = ", ".join(sorted(list_bundled(), key=_bundled_order)) or "none"
            raise ValueError(
                f"{source[:80]!r} is neither a Hub id of the form organisation/name nor a bundled model ({bundled})"
            )
        self._store.fetch(source)
        with self._guard:
            before = [name for name in self._added.pop(self._visitor, []) if name != source]
            self._added[self._visitor] = [*before, source][-MOST_ADDED:]
            while len(self._added) > MOST_VISITORS:
                self._added.popitem(last=False)
        return source

    def forget(self) -> None:
        """The visitor is gone. Models that nobody uses are dropped when others need the room."""
        with self._guard:
            self._added.pop(self._visitor, None)

    def put(self, folder: Path, title: str) -> str:
        """Put a checkpoint of the visitor's own on their shelf; returns the name to `get` it by."""
        return self._own.put(self._visitor, folder, title)

    def remove(self, name: str) -> None:
        """Take a model of the visitor's own off the shelf; one that is not there does no harm."""
        self._own.remove(self._visitor, name)

    def label(self, name: str) -> str:
        """The kind's title, or the record's label; with the model's name if another model has the same title.

        Models of the visitor's own always have what they were called in brackets, which tells them from all others.
        """
        own = self._own.find(self._visitor, name)
        if own is not None:
            return f"{self._title(name)} ({own.title})"
        own_names = self._own.names(self._visitor)
        titles = {each: self._title(each) for each in self.names() if each not in own_names}
        title = titles.get(name, name)
        return title if list(titles.values()).count(title) == 1 else f"{title} ({name})"

    def choices(self) -> list[tuple[str, str]]:
        """Label and name of every model, as Gradio's lists take them."""
        return [(self.label(name), name) for name in self.names()]

    def listings(self) -> Iterator[Listing]:
        """What is known of every model; damaged ones, of which their cards tell, are left out."""
        for name in self.names():
            with contextlib.suppress(ValueError):
                yield self.describe(name)

    def colour(self, name: str) -> str:
        """The colour of a model's kind; no checkpoint is opened for it."""
        checkpoint = self._opened(name)
        return colour_of(checkpoint.config.kind if checkpoint else _bundled_kind(name))

    def describe(self, name: str) -> Listing:
        """What is known of a model without reading its weights."""
        return self._describe(self._find(name))

    def get(self, name: str) -> Entry:
        """A model that is ready to run; its weights are read the first time."""
        kept = self._find(name)
        listing = self._describe(kept)
        self._code.make_room()
        return Entry(name, listing.label, listing.config, listing.record, kept.load())

    def _find(self, name: str) -> Kept:
        own = self._own.find(self._visitor, _checked(name))
        if own is not None:
            return own
        names = self.names()
        if name not in names:
            raise ValueError(
                f"there is no model {name[:80]!r} on the shelf; there are {', '.join(names) or 'none'}. "
                "Models from the Hub are loaded at the top of the page, by each visitor"
            )
        return self._store.find(name)

    def _describe(self, kept: Kept) -> Listing:
        checkpoint = kept.open()
        return Listing(kept.name, self.label(kept.name), checkpoint.config, checkpoint.record)

    def _opened(self, name: str) -> Checkpoint | None:
        own = self._own.find(self._visitor, name)
        return own.checkpoint if own else self._store.known(name)

    def _title(self, name: str) -> str:
        checkpoint = self._opened(name)
        if checkpoint is None:
            return title_of(_bundled(name, RECORD, "model") or _bundled_kind(name) or name)
        return title_of(checkpoint.record.model if checkpoint.record else checkpoint.config.kind)


def _checked(name: object) -> str:
    """A name as other programs may send it, which could be anything."""
    if not isinstance(name, str):
        raise ValueError(f"{name!r:.80} is not the name of a model")
    return name


def _bundled_kind(name: str) -> str:
    return _bundled(name, CONFIG, "model", "kind")


def _bundled_order(name: str) -> tuple[int, str]:
    return rank_of(_bundled_kind(name)), name


def _bundled(name: str, file: str, *path: str) -> str:
    """What a file of a bundled folder says in one place, without checking the folder; empty if it cannot be read."""
    try:
        found = json.loads((bundle_folder() / name / file).read_text(encoding="utf-8"))
        for part in path:
            found = found[part]
        return str(found)
    except (OSError, ValueError, TypeError, KeyError):
        return ""
