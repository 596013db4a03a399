"""What the runs on this server have shown: which programs are compiled, and how fast each depth writes."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import tipshare
from tipshare.generation.cached_pass import write
from tipshare.generation.streaming import SHORTEST_READ
from tipshare.model.language_model import LanguageModel

if TYPE_CHECKING:
    from app.generate.streaming import Column

# Speeds that are kept: bundled models at every depth of the dial, and some of visitors' models.
MOST_SPEEDS = 1_000
# A speed is taken from runs of at least so many bytes.
LEAST_BYTES = 32


class Measured:
    """Shared by all visitors of a page; safe to share between threads.

    Attributes:
        has_all_examples: Whether no more of them will come.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._work = threading.Lock()
        self._done: dict[str, str] = {}
        self._examples: dict[str, Column] = {}
        self.has_all_examples = False
        self._speeds: OrderedDict[tuple[str, int], float] = OrderedDict()
        self._programs = 0
        # By the identity of a model, whose arrays have no hash.
        self._compiled: dict[int, tuple[weakref.ref, set[tuple[int | None, int]]]] = {}

    def once(self, name: str, work: Callable[[], str]) -> str:
        """What some work gives that is the same for everybody, done by the first who asks."""
        with self._work:
            if name not in self._done:
                self._done[name] = work()
            return self._done[name]

    def keep_example(self, column: "Column") -> None:
        """Keep a finished text for every visitor who opens the page."""
        with self._guard:
            self._examples[column.name] = column

    def examples(self) -> list["Column"]:
        with self._guard:
            return list(self._examples.values())

    def compile(self, model: LanguageModel, prompt: bytes, steps: int | None) -> None:
        """Compile what writing after a prompt of this length takes at a number of depth steps, unless that was done.

        What is timed afterwards is writing alone.
        """
        if self.is_compiled(model, prompt, steps):
            return
        for _ in tipshare.stream(model, prompt, max_bytes=1, steps=steps):
            pass
        key = id(model)
        with self._guard:
            if key not in self._compiled or self._compiled[key][0]() is not model:
                self._compiled[key] = weakref.ref(model, lambda _: self._compiled.pop(key, None)), set()
            self._compiled[key][1].add(_program(prompt, steps))

    def is_compiled(self, model: LanguageModel, prompt: bytes, steps: int | None) -> bool:
        with self._guard:
            programs = write._cache_size()  # pyright: ignore[reportAttributeAccessIssue]
            if programs < self._programs:  # JAX was told to drop its programs, to make room
                self._compiled.clear()
            self._programs = programs
            known = self._compiled.get(id(model))
            return known is not None and known[0]() is model and _program(prompt, steps) in known[1]

    def note_speed(self, name: str, steps: int, count: int, speed: float) -> None:
        """Keep the bytes per second of a model at a number of depth steps, if enough of them were written."""
        if count < LEAST_BYTES:
            return
        with self._guard:
            self._speeds[name, steps] = speed
            self._speeds.move_to_end((name, steps))
            while len(self._speeds) > MOST_SPEEDS:
                self._speeds.popitem(last=False)

    def speed(self, name: str, steps: int) -> float | None:
        """Bytes per second in the last run of a model at this depth; None if there was none."""
        with self._guard:
            return self._speeds.get((name, steps))


def _program(prompt: bytes, steps: int | None) -> tuple[int | None, int]:
    """Prompts are padded, with one byte before them, to powers of two: those between two of them share a program."""
    return steps, max(len(prompt), SHORTEST_READ - 1).bit_length()
