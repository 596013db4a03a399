"""The runs in progress, so that a visitor can stop their own and keep its text."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Seconds that `stop` waits for a run to end, at most; a turn of one model takes a few hundredths of a second.
PATIENCE = 3.0


class Runs:
    """The runs in progress, at most one per visitor; safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._stops: dict[str, threading.Event] = {}

    @contextmanager
    def begin(self, visitor: str) -> Iterator[threading.Event]:
        """Register a run of a visitor and stop an earlier one; the event is set when the run should end."""
        stop = threading.Event()
        with self._guard:
            earlier = self._stops.get(visitor)
            self._stops[visitor] = stop
        if earlier is not None:
            earlier.set()
        try:
            yield stop
        finally:
            with self._guard:
                if self._stops.get(visitor) is stop:
                    del self._stops[visitor]

    def stop(self, visitor: str) -> bool:
        """Ask a visitor's run to end and wait until it has; False if there was none."""
        with self._guard:
            stop = self._stops.get(visitor)
        if stop is None:
            return False
        stop.set()
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            with self._guard:
                if self._stops.get(visitor) is not stop:
                    return True
            time.sleep(0.01)
        return True

    def count(self) -> int:
        """Number of runs in progress."""
        with self._guard:
            return len(self._stops)
