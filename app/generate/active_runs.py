"""The runs of the visitors: a new one ends the one before, and a visitor can stop their own and keep its text."""

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from app.generate.measured import Measured

# Seconds that `stop` waits for a run to end, at most; a turn of one model takes a few hundredths of a second.
PATIENCE = 3.0
# Visitors whose latest run is remembered; the oldest are forgotten first, and a run of theirs that still waits in the
# queue does not start.
MOST_VISITORS = 10_000


class Runs:
    """The runs of all visitors, at most one in progress for each; safe to share between threads.

    A run is announced when a visitor asks for it, gets a number, and begins once the queue comes to it. Numbers only
    grow, so that the page can tell what an earlier run still sends from what belongs to the latest.

    Attributes:
        measured: What all runs have shown.
    """

    def __init__(self) -> None:
        self.measured = Measured()
        self._guard = threading.Lock()
        self._stops: dict[str, threading.Event] = {}
        self._numbers = itertools.count(1)
        # The latest number of each visitor, and whether its run has yet to begin.
        self._latest: OrderedDict[str, tuple[int, bool]] = OrderedDict()

    def announce(self, visitor: str, *, is_to_come: bool = True) -> int:
        """The number of a run to come, or of a page without texts.

        An earlier run of the visitor is asked to end; in the queue, it never begins.
        """
        with self._guard:
            earlier = self._stops.get(visitor)
            if earlier is not None:
                earlier.set()
            return self._number(visitor, is_to_come=is_to_come)

    def is_latest(self, visitor: str, number: int) -> bool:
        """Whether the visitor asked for no other run since this one, and did not stop it."""
        with self._guard:
            return self._latest.get(visitor, (0, False))[0] == number

    @contextmanager
    def begin(self, visitor: str) -> Iterator[threading.Event]:
        """Register a run of a visitor and stop an earlier one; the event is set when the run should end."""
        stop = threading.Event()
        with self._guard:
            earlier = self._stops.get(visitor)
            self._stops[visitor] = stop
            # Other programs begin without an announcement, and nothing is kept of them.
            if visitor in self._latest:
                self._latest[visitor] = self._latest[visitor][0], False
        if earlier is not None:
            earlier.set()
        try:
            yield stop
        finally:
            with self._guard:
                if self._stops.get(visitor) is stop:
                    del self._stops[visitor]

    def stop(self, visitor: str) -> int | None:
        """Ask a visitor's run to end and wait until it has; one in the queue never begins.

        Returns:
            A new number if a run was in the queue, for the page to show that it is gone; None otherwise: a run in
            progress shows its end itself.
        """
        with self._guard:
            stop = self._stops.get(visitor)
            _, was_waiting = self._latest.get(visitor, (0, False))
            number = self._number(visitor, is_to_come=False)
        if stop is not None:
            stop.set()
            ends = time.monotonic() + PATIENCE
            while time.monotonic() < ends and self._has(visitor, stop):
                time.sleep(0.01)
        return number if was_waiting else None

    def _has(self, visitor: str, stop: threading.Event) -> bool:
        with self._guard:
            return self._stops.get(visitor) is stop

    def count(self) -> int:
        """Number of runs in progress."""
        with self._guard:
            return len(self._stops)

    def _number(self, visitor: str, *, is_to_come: bool) -> int:
        number = next(self._numbers)
        self._latest[visitor] = number, is_to_come
        self._latest.move_to_end(visitor)
        while len(self._latest) > MOST_VISITORS:
            self._latest.popitem(last=False)
        return number
