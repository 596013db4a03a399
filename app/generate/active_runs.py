"""Who is writing at the moment, so that a visitor can stop their own run and leave with the text so far."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# How long `stop` waits for a run to end; a turn of one model takes a few hundredths of a second.
PATIENCE = 3.0


class Runs:
    """The runs under way, one per visitor at most; safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._signs: dict[str, threading.Event] = {}

    @contextmanager
    def begin(self, visitor: str) -> Iterator[threading.Event]:
        """A run of a visitor; the event is set when they want it to end. An earlier run of theirs is asked to end."""
        sign = threading.Event()
        with self._guard:
            earlier = self._signs.get(visitor)
            self._signs[visitor] = sign
        if earlier is not None:
            earlier.set()
        try:
            yield sign
        finally:
            with self._guard:
                if self._signs.get(visitor) is sign:
                    del self._signs[visitor]

    def stop(self, visitor: str) -> bool:
        """Ask a visitor's run to end and wait until it has; False if there was none."""
        with self._guard:
            sign = self._signs.get(visitor)
        if sign is None:
            return False
        sign.set()
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            with self._guard:
                if self._signs.get(visitor) is not sign:
                    return True
            time.sleep(0.01)
        return True

    def count(self) -> int:
        """How many runs are under way."""
        with self._guard:
            return len(self._signs)
