"""Models of a visitor's own, such as those trained on the page: listed for them alone."""

import secrets
import threading
from functools import partial
from pathlib import Path

from app.shelf.store import Kept
from tipshare.checkpoint import read_folder


class Own(Kept):
    """A checkpoint folder, which is read and checked at once."""

    def __init__(self, folder: Path, title: str) -> None:
        # Unique among all visitors: what is kept by the name of a model never mixes two of them.
        super().__init__(f"{title}-{secrets.token_hex(8)}", partial(read_folder, folder))
        self.title = title
        self.open()


class OwnModels:
    """Every visitor's own models; safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._models: dict[str, dict[str, Own]] = {}

    def put(self, visitor: str, folder: Path, title: str) -> str:
        """Returns the model's name."""
        own = Own(folder, title)
        with self._guard:
            self._models.setdefault(visitor, {})[own.name] = own
        return own.name

    def remove(self, visitor: str, name: str) -> None:
        with self._guard:
            models = self._models.get(visitor, {})
            models.pop(name, None)
            if not models:
                self._models.pop(visitor, None)

    def names(self, visitor: str) -> list[str]:
        with self._guard:
            return list(self._models.get(visitor, ()))

    def find(self, visitor: str, name: str) -> Own | None:
        with self._guard:
            return self._models.get(visitor, {}).get(name)
