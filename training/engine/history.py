"""The course of a run: losses, evaluations and step times, kept across interruptions."""

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Array

from training.engine.state import write_text

# A run keeps at most this many points of its training curve.
CURVE_POINTS = 200
# And the times of this many steps, the latest.
KEPT_TIMES = 1_000


class DivergedError(Exception):
    """The loss or a weight is no longer a usable number."""


class History:
    """What happened up to a step.

    Attributes:
        step: The last training step whose loss was read.
        curve: [step, loss on the fixed validation windows] pairs.
        train_curve: [step, mean training loss since the pair before] pairs.
        step_seconds: Times of the latest steps that followed another one directly.
        compile_seconds: Of the first process of the run.
    """

    def __init__(self, num_steps: int, largest_loss: float, metrics: Path | None, tracker: Any = None) -> None:
        self.step = 0
        self.curve: list[list[float]] = []
        self.train_curve: list[list[float]] = []
        self.step_seconds: list[float] = []
        self.compile_seconds: float | None = None
        self._recent: list[float] = []
        self._num_steps = num_steps
        self._largest_loss = largest_loss
        self._metrics = metrics
        self._tracker = tracker

    def note_loss(self, step: int, loss: float, seconds: float | None) -> None:
        """Take note of a training step; raises DivergedError if its loss is not usable."""
        if not math.isfinite(loss) or loss > self._largest_loss:
            raise DivergedError(
                f"the training loss is {loss:.4g} at step {step}: the run diverged. A smaller learning rate "
                "(--set learning_rate=...), a warm-up (warmup_steps) or clipping (clip_norm=1) may help"
            )
        self.step = step
        self._recent.append(loss)
        if seconds is not None:
            self.step_seconds = [*self.step_seconds[1 - KEPT_TIMES :], seconds]
        if step % math.ceil(self._num_steps / CURVE_POINTS) == 0 or step == self._num_steps:
            mean = float(np.mean(self._recent))
            self._recent = []
            self.train_curve.append([step, mean])
            self.log({"step": step, "train_loss": mean})

    def note_evaluation(self, step: int, loss: float) -> None:
        if not math.isfinite(loss):
            raise DivergedError(f"the validation loss is {loss} at step {step}: the run diverged")
        self.curve.append([step, loss])
        self.log({"step": step, "valid_loss": loss})

    def log(self, line: dict[str, Any]) -> None:
        """Add a line to the metrics file, and to the live tracker if there is one."""
        if self._tracker is not None:
            self._tracker.log(line)
        if self._metrics is not None:
            with self._metrics.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, allow_nan=False) + "\n")

    def to_facts(self) -> dict[str, Any]:
        """As JSON values, for a saved state."""
        return {
            "curve": self.curve,
            "train_curve": self.train_curve,
            "recent": self._recent,
            "step_seconds": [round(seconds, 6) for seconds in self.step_seconds],
            "compile_seconds": self.compile_seconds,
        }

    def continue_from(self, step: int, facts: dict[str, Any]) -> None:
        """Take up the history of a saved state, and drop metrics that were written after it."""
        self.step = step
        self.curve, self.train_curve = facts["curve"], facts["train_curve"]
        self._recent, self.step_seconds = facts["recent"], facts["step_seconds"]
        self.compile_seconds = facts["compile_seconds"]
        self._rewind_metrics(step)

    def close(self) -> None:
        """End live tracking."""
        if self._tracker is not None:
            self._tracker.finish()

    def restart(self) -> None:
        """Begin at step 0 with empty metrics."""
        self._rewind_metrics(0)

    def _rewind_metrics(self, step: int) -> None:
        if self._metrics is None or not self._metrics.exists():
            return
        lines = self._metrics.read_text(encoding="utf-8").splitlines(keepends=True)
        # A process killed while writing may leave half a line.
        whole = [line for line in lines if line.endswith("}\n")]
        write_text(self._metrics, "".join(line for line in whole if json.loads(line)["step"] <= step))


class LossReader:
    """Reads each loss one step late, so that the device has its next step before the host waits for this one."""

    def __init__(self, note: Any) -> None:
        self._note = note
        self._waiting: tuple[int, Array] | None = None
        self._clock: float | None = None

    def push(self, step: int, loss: Array) -> None:
        """Take the loss of the step just started; read the one before."""
        self._read()
        self._waiting = (step, loss)

    def drain(self) -> None:
        """Read the last loss; what follows is no training step, so no time is taken across it."""
        self._read()
        self._clock = None

    def _read(self) -> None:
        if self._waiting is None:
            return
        step, loss = self._waiting
        self._waiting = None
        value = float(loss)
        now = time.perf_counter()
        seconds = None if self._clock is None else now - self._clock
        self._clock = now
        self._note(step, value, seconds)
