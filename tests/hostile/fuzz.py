"""The generator of hostile input: cases of every sort, each within limits, and a count of how they ended."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from huggingface_hub import constants

from tests.hostile.calls import run_call
from tests.hostile.folders import adapter_folders, checkpoints
from tests.hostile.limits import limited
from tests.hostile.texts import States, Uploads, run_record

Runner = Callable[[np.random.Generator], bool]


@dataclass
class Count:
    """How the cases of one sort ended."""

    cases: int = 0
    refused: int = 0
    most_memory: int = 0

    def add(self, loaded: bool, memory: int) -> None:
        self.cases += 1
        self.refused += not loaded
        self.most_memory = max(self.most_memory, memory)


class CaseError(AssertionError):
    """A case that ended in another way than it may; its seed repeats it."""


def runners(folder: Path) -> dict[str, Runner]:
    """What runs a case of every sort, with files in a folder."""
    return {
        "checkpoints": checkpoints(folder).run,
        "adapters": adapter_folders(folder).run,
        "records": run_record,
        "uploads": Uploads(folder).run,
        "states": States(folder).run,
        "calls": run_call,
    }


# How many cases of each sort come in a round: those that take little time are the more.
ROUND = {"checkpoints": 2, "adapters": 1, "records": 4, "uploads": 2, "states": 1, "calls": 4}


def run_case(sort: str, run: Runner, seed: int, number: int) -> tuple[bool, int]:
    """Whether the case was loaded, and the memory it took; CaseError if it ended in any other way."""
    random = np.random.default_rng([seed, number])
    try:
        with limited() as taken:
            loaded = run(random)
    except Exception as error:
        words = f"{type(error).__name__}: {str(error)[:500]}"
        raise CaseError(f"{sort}, seed {seed}, case {number}: {words}") from error
    return loaded, taken.memory


def fuzz(
    folder: Path,
    *,
    seed: int,
    rounds: int | None = None,
    ends: float | None = None,
    sorts: Collection[str] = tuple(ROUND),
    say: Any = None,
) -> dict[str, Count]:
    """Rounds of cases of these sorts, until there were enough or the time is over; the first wrong one raises."""
    counts = {sort: Count() for sort in sorts}
    number = 0
    with offline():
        runs = runners(folder)
        while (rounds is None or number < rounds) and (ends is None or time.monotonic() < ends):
            for sort in sorts:
                for part in range(ROUND[sort]):
                    counts[sort].add(*run_case(sort, runs[sort], seed, number * 10 + part))
            number += 1
            if say is not None and number % 100 == 0:
                say(counts)
    return counts


@contextlib.contextmanager
def offline() -> Iterator[None]:
    """No case may reach the Hub, whatever a folder says its base is."""
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
