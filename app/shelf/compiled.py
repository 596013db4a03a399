"""Compiled code, which JAX keeps for every model, depth and length it has met: dropped before it fills the memory."""

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import jax

# A program of a model takes 5 to 50 MB, by the number of depth steps, and there are three or four at every depth: room
# for the bundled models at every depth of the dial, and for as many programs of visitors.
MOST_PROGRAMS = 600
# Growth of the process, mapped files aside, since code was dropped last.
MOST_GROWTH = 3_000_000_000
STATUS = Path("/proc/self/status")


def count_programs() -> int:
    """Programs that are kept in memory, whoever compiled them."""
    return sum(len(client.live_executables()) for client in {device.client for device in jax.devices()})


def memory_in_use() -> int:
    """Bytes of this process beside mapped files; 0 where the system does not say."""
    if not STATUS.exists():
        return 0
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024


class CompiledCode:
    """Keeps compiled code within bounds; safe to share between threads.

    JAX drops all of it or nothing. What the bundled models need comes back from the cache on disk in less than a
    second, and a program that runs at the moment is kept by whoever runs it.
    """

    def __init__(self, count: Callable[[], int] = count_programs, in_use: Callable[[], int] = memory_in_use) -> None:
        """Nothing is dropped yet."""
        self._count, self._in_use = count, in_use
        self._guard = threading.Lock()
        self._before: int | None = None

    def make_room(self) -> bool:
        """Drop all compiled code if there is too much of it; called between two requests. Whether it was dropped."""
        with self._guard:
            used = self._in_use()
            if self._before is None:
                self._before = used
            if self._count() <= MOST_PROGRAMS and used - self._before <= MOST_GROWTH:
                return False
            jax.clear_caches()
            gc.collect()
            give_back()
            self._before = self._in_use()
            return True


def give_back() -> None:
    """Return freed memory to the system, which glibc would keep."""
    if sys.platform.startswith("linux"):
        library = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):
            library.malloc_trim(0)
