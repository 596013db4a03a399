"""Processes that end at a random moment: by SIGKILL, or on a disk that takes no more.

A moment is one of the times at which the process opens, renames or removes a file of its run, and a little after; so
what it hits does not depend on how fast the machine is. Processes are forked from one that has everything imported.
"""

import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir")
LONGEST_DELAY = 0.005
# Bytes that a full disk still takes of every file.
MOST_ROOM = 4_000
# What the exit code is of a process that was killed.
KILLED = -signal.SIGKILL

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["training.__main__", "training.commands.train", "training.engine.loop"])


@dataclass(frozen=True)
class Ending:
    """How and when a process ends: so many events after its start, and a moment later."""

    how: Literal["kill", "full"]
    event: int
    delay: float
    room: int

    @staticmethod
    def draw(random: np.random.Generator, events: int) -> "Ending":
        how = "kill" if random.random() < 0.75 else "full"
        delay, room = random.uniform(0, LONGEST_DELAY), random.integers(MOST_ROOM)
        return Ending(how, int(random.integers(events)), delay, int(room))

    def happen(self) -> None:
        if self.how == "kill":
            threading.Timer(self.delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.room, resource.RLIM_INFINITY))


class Life:
    """A process of `python -m training`, whose files are in a folder."""

    def __init__(
        self,
        arguments: list[str],
        folder: Path,
        ending: Ending | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._events = _forks.Value("i", 0, lock=False)
        # A file would be full like all others.
        self._output, output = _forks.Pipe(duplex=False)
        given = (arguments, str(folder), output, ending, dict(environment or {}), self._events)
        self._process = _forks.Process(target=_live, args=given)
        self._process.start()
        output.close()

    def wait(self) -> tuple[int, str]:
        """The exit code, and what it said."""
        with os.fdopen(os.dup(self._output.fileno()), "rb") as output:
            said = output.read().decode()
        self._output.close()
        self._process.join()
        return int(self._process.exitcode or 0), said

    @property
    def events(self) -> int:
        """How often it has opened, renamed or removed one of its files."""
        return int(self._events.value)

    def kill_when(self, condition: Callable[[], bool], delay: float) -> None:
        """Kill it a moment after a condition holds, unless it ends before."""
        while not condition() and self._process.is_alive():
            time.sleep(0.001)
        time.sleep(delay)
        self._process.kill()


def _live(
    arguments: list[str], folder: str, output: Any, ending: Ending | None, environment: dict[str, str], events: Any
) -> None:
    for number in (1, 2):
        os.dup2(output.fileno(), number)
    output.close()
    os.environ.update(environment)

    def note(name: str, given: tuple[Any, ...]) -> None:
        if name in EVENTS and isinstance(given[0], str | os.PathLike) and os.fspath(given[0]).startswith(folder):
            if ending is not None and events.value == ending.event:
                ending.happen()
            events.value += 1

    from training.__main__ import leave, main

    sys.addaudithook(note)
    leave(main(arguments))
