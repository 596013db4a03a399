"""Programs to compare with, each in a process of a Python that has torch, and the turns that all programs take."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.engine.machine import code_commit, describe_machine

# Share of all processors' time during a turn that a hypervisor may give to other machines.
LARGEST_STOLEN_SHARE = 0.01
MOST_REPEATS = 5


class Peer:
    """A process of `torch_peer.py`, run by another Python."""

    def __init__(self, name: str, python: str, settings: dict[str, Any]):
        self.name = name
        script = str(Path(__file__).with_name("torch_peer.py"))
        self._process = subprocess.Popen([python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts = self.ask(settings)

    def ask(self, what: object) -> dict[str, Any]:
        """Send one JSON line and wait for the answer."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError(f"{self.name} has no pipes")
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with exit code {self._process.wait()}: see its message above")
        return json.loads(line)

    def seconds(self, what: int) -> float:
        """Seconds of one turn."""
        return self.ask(what)["seconds"]

    def close(self) -> None:
        self._process.communicate()


def describe_benchmark(peers: Sequence[Peer]) -> dict[str, Any]:
    """Commit and machine of a benchmark, for its report."""
    torch_version = {"torch": peers[0].facts["torch"]} if peers else {}
    return {"commit": code_commit(), "machine": describe_machine(1) | torch_version}


def measure_turns(parties: list[Any], what: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of each party in each round, after one round that is not measured.

    All take turns within every round, so that a busy machine slows all of them alike. A turn in which a hypervisor gave
    more than `LARGEST_STOLEN_SHARE` of the processors' time to other machines is repeated, up to `MOST_REPEATS` times.
    """
    taken: dict[str, list[float]] = {party.name: [] for party in parties}
    for turn in range(rounds + 1):
        for party in parties:
            seconds = _undisturbed_seconds(party, what)
            if turn:
                taken[party.name].append(seconds)
    return taken


def _undisturbed_seconds(party: Any, what: int) -> float:
    seconds = 0.0
    for _ in range(MOST_REPEATS):
        before, began = stolen_seconds(), time.perf_counter()
        seconds = party.seconds(what)
        share = (stolen_seconds() - before) / ((time.perf_counter() - began) * (os.cpu_count() or 1))
        if share < LARGEST_STOLEN_SHARE:
            break
    return seconds


def stolen_seconds() -> float:
    """Processor time that a hypervisor has given to other machines since the start; 0 if it is not known."""
    try:
        counts = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()
    except OSError:
        return 0.0
    # cpu user nice system idle iowait irq softirq steal ...
    return int(counts[8]) / os.sysconf("SC_CLK_TCK") if len(counts) > 8 else 0.0
