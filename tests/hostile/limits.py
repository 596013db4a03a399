"""Limits on one case: the length of a refusal, memory and processor time, however busy the machine is."""

import contextlib
import resource
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

MOST_MEMORY = 200 * 10**6
# Of the processor, not of the clock; a case takes a few milliseconds, or a second if a model is traced for it.
MOST_SECONDS = 60.0

LONGEST_MESSAGE = 2_000
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class TooMuchError(Exception):
    """A case took more than it may; no error class of ours, so that nothing handles it."""


@dataclass
class Taken:
    """What a case took: bytes at its peak, over what the process had before."""

    memory: int = 0


def refused(error: ValueError) -> bool:
    """False, for a case that was not loaded; its message is there, and short enough for a page or a terminal."""
    assert 0 < len(str(error)) < LONGEST_MESSAGE
    return False


@contextlib.contextmanager
def limited() -> Iterator[Taken]:
    """Run one case within the limits; TooMuchError if it takes more."""
    taken = Taken()
    before = _start()

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooMuchError(f"more than {MOST_SECONDS:g} s of processor time")

    handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield taken
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
    taken.memory = max(0, _status("VmHWM") - before)
    if taken.memory > MOST_MEMORY:
        raise TooMuchError(f"{taken.memory:,} bytes of memory, more than {MOST_MEMORY:,}")


@contextlib.contextmanager
def full_disk(room: int = 0) -> Iterator[None]:
    """No file can be written beyond its first `room` bytes: writing ends in the middle, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _start() -> int:
    """Resident bytes now, from which the peak is counted anew; 0 where the system does not tell."""
    if RESET.exists():
        RESET.write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    if not STATUS.exists():
        return 0
    lines = (line.split() for line in STATUS.read_text().splitlines())
    return next((int(words[1]) * 1024 for words in lines if words[0] == f"{field}:"), 0)
