"""Runs as processes of their own, one after the other."""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence

from training.commands.train import BUSY, DIVERGED
from training.engine.signals import SIGNALS, StopRequest, exit_code

OUTCOMES = {0: "finished", DIVERGED: "diverged", BUSY: "trained by another process"}


class Child:
    """The run that a sweep has under way.

    Attributes:
        stop: Whether the sweep was asked to stop.
    """

    def __init__(self) -> None:
        """Listens to signals from now on."""
        self.stop = StopRequest(self._pass_on)
        self._process: subprocess.Popen | None = None
        self.stop.listen()

    def run(self, arguments: Sequence[str]) -> int:
        """Run `python -m training` and return its exit code, or that of the signal if one came before."""
        if self.stop.signal is None:
            self._process = subprocess.Popen([sys.executable, "-m", "training", *arguments])
            if self.stop.signal is not None:  # it came while the child was started
                self._pass_on(self.stop.signal)
            code = self._process.wait()
            return code if code >= 0 else exit_code(-code)
        return exit_code(self.stop.signal)

    def _pass_on(self, number: int) -> None:
        # A terminal sends SIGINT to the child as well, and a second one would end it before its state is saved.
        if number == signal.SIGTERM and self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)


def carry_out_all(jobs: Sequence[tuple[str, Callable[[], int]]]) -> int:
    """Carry out named runs one after the other, print how many ended how, and return the exit code for all of them.

    Every run returns its own exit code; one that was stopped, or that ended with an error, ends the rest.
    """
    counts: Counter[str] = Counter()
    for number, (name, run) in enumerate(jobs, start=1):
        print(f"[{number}/{len(jobs)}] {name}", flush=True)
        code = run()
        if code not in OUTCOMES:
            stopped = code in (exit_code(each) for each in SIGNALS)
            then = "the same command continues" if stopped else f"its exit code is {code}, see its message above"
            print(f"stopped at {name}; {then}", file=sys.stderr)
            return code
        counts[OUTCOMES[code]] += 1
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 0 if set(counts) <= {"finished"} else 1
