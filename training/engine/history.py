"""The history of a run: losses, evaluations and step times, kept across interruptions."""

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Array

from tipshare.files import write_text
from training.engine.run import Run

# A run keeps at most this many points of its training curve, and the times of this many of its latest steps.
CURVE_POINTS = 200
KEPT_TIMES = 1_000
# A training loss this many times that of a uniform guess counts as diverged.
DIVERGED = 2.0


class DivergedError(Exception):
    """The loss or a weight is not finite, or the cross-entropy is far above that of a uniform guess."""


class Tracker:
    """Sends metrics to a trackio dashboard."""

    def __init__(self, run: Run) -> None:
        try:
            import trackio  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ValueError("--track needs trackio: pip install 'tipshare[track]', or leave --track out") from error
        name = f"{run.recipe.name}/{run.model}/seed-{run.seed}"
        trackio.init(project="tipshare", name=name, config=run.identity())
        self.finish = trackio.finish
        self._log = trackio.log

    def log(self, line: dict[str, Any]) -> None:
        self._log({name: value for name, value in line.items() if name != "step"}, step=line["step"])


class History:
    """What happened in a run up to a step.

    Attributes:
        step: The last training step whose loss was read.
        curve: [step, loss on the fixed validation windows] pairs.
        train_curve: [step, mean training loss since the pair before] pairs.
        step_seconds: Times of the latest steps, without those that an evaluation or a save came before.
        compile_seconds: Of the first process of the run.
    """

    def __init__(self, run: Run, metrics: Path | None, tracker: Tracker | None = None) -> None:
        self.step = 0
        self.curve: list[list[float]] = []
        self.train_curve: list[list[float]] = []
        self.step_seconds: list[float] = []
        self.compile_seconds: float | None = None
        self._recent: list[float] = []
        self._num_steps = run.recipe.num_steps
        # With consistency the loss contains a squared distance, which has no such limit.
        self._largest_loss = math.inf if run.recipe.consistency else DIVERGED * math.log(run.config.vocab_size)
        self._metrics = metrics
        self._tracker = tracker

    def note_loss(self, step: int, loss: float, seconds: float | None) -> None:
        """Add a training step; raises DivergedError if its loss is not finite or far too large."""
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
        """The history as JSON values, for a saved state."""
        return {
            "curve": self.curve,
            "train_curve": self.train_curve,
            "recent": self._recent,
            "step_seconds": [round(seconds, 6) for seconds in self.step_seconds],
            "compile_seconds": self.compile_seconds,
        }

    def continue_from(self, step: int, facts: dict[str, Any]) -> None:
        """Restore the history of a saved state, and drop the metrics that were written after it."""
        self.step = step
        self.curve, self.train_curve = facts["curve"], facts["train_curve"]
        self._recent, self.step_seconds = facts["recent"], facts["step_seconds"]
        self.compile_seconds = facts["compile_seconds"]
        self.rewind_metrics(step)

    def close(self) -> None:
        """End live tracking."""
        if self._tracker is not None:
            self._tracker.finish()

    def rewind_metrics(self, step: int = 0) -> None:
        """Drop the metrics that were written after a step."""
        if self._metrics is None or not self._metrics.exists():
            return
        lines = self._metrics.read_text(encoding="utf-8").splitlines(keepends=True)
        # A process killed while writing may leave half a line.
        whole = [line for line in lines if line.endswith("}\n")]
        write_text(self._metrics, "".join(line for line in whole if json.loads(line)["step"] <= step))


class LossReader:
    """Reads each loss one step late, so that the device has the next step to compute while the host waits."""

    def __init__(self, note: Any) -> None:
        self._note = note
        self._waiting: tuple[int, Array] | None = None
        self._clock: float | None = None

    def push(self, step: int, loss: Array) -> None:
        """Add the loss of the step just started, and read the one before it."""
        self._read()
        self._waiting = (step, loss)

    def drain(self) -> None:
        """Read the last loss. What follows is not a training step, so its time is not measured."""
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
