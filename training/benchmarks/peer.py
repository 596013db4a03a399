"""A program to compare with, in a process of its own under the Python that has torch."""

import json
import subprocess
from pathlib import Path
from typing import Any


class Peer:
    """A script that reads its settings from the first line it is sent, and answers every line with seconds."""

    def __init__(self, name: str, python: str, script: str, settings: dict[str, Any]):
        self.name = name
        self._process = subprocess.Popen(
            [python, str(Path(__file__).with_name(script))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
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
        """How long the peer takes for one turn."""
        return self.ask(what)["seconds"]

    def close(self) -> None:
        self._process.communicate(timeout=30)


def measure_turns(parties: list[Any], what: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of each party in each round, after one unmeasured round.

    All take turns within every round, so that a busy machine slows all of them alike.
    """
    taken: dict[str, list[float]] = {party.name: [] for party in parties}
    for turn in range(rounds + 1):
        for party in parties:
            seconds = party.seconds(what)
            if turn:
                taken[party.name].append(seconds)
    return taken
