"""A run in a thread of its own, and what can be seen of it at any moment."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.train.settings import TrainingRequest
from tipshare.analysis import continuous_units
from training.engine.history import DivergedError
from training.engine.loop import train
from training.engine.observer import Evaluation, Observer
from training.engine.signals import StoppedError, StopRequest
from training.results.records import RunRecord

State = Literal["compiling", "training", "measuring", "finished", "stopped", "failed"]

# A run ends early after so many seconds, however slow the machine is: others may be waiting.
MOST_SECONDS = 240.0
DIVERGED = "the loss grew beyond that of guessing. A smaller learning rate may help."


@dataclass(frozen=True)
class UnitMeans:
    """The mean over the units of every gated place, along depth; see `tipshare.analysis.UnitValues`."""

    t: np.ndarray
    means: dict[str, np.ndarray]
    are_gates: bool
    unchanged: float


@dataclass(frozen=True)
class Snapshot:
    """What is known of a run at one moment.

    Attributes:
        losses: Step and training loss.
        curve: Step and validation loss.
        depths: Step, and the validation loss by number of depth steps.
        samples: Step and text.
        ended_early: Whether the visitor or the time limit ended it before its last step.
        problem: Why there is no result.
    """

    request: TrainingRequest
    state: State = "compiling"
    step: int = 0
    seconds: float = 0.0
    losses: tuple[tuple[int, float], ...] = ()
    curve: tuple[tuple[int, float], ...] = ()
    depths: tuple[tuple[int, dict[int, float]], ...] = ()
    units: UnitMeans | None = None
    samples: tuple[tuple[int, str], ...] = ()
    record: RunRecord | None = None
    ended_early: bool = False
    problem: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("finished", "stopped", "failed")


class Session(Observer):
    """Trains in the background; `now` is replaced, never changed, so that any thread may read it.

    Attributes:
        folder: Where the run's files are.
        is_abandoned: Whether nobody waits for the result.
    """

    def __init__(self, request: TrainingRequest, folder: Path, on_end: Callable[[Snapshot], None]) -> None:
        """A run that waits for `start`.

        Args:
            on_end: Called in the thread of the run with its last state, whatever happened, before others see it.
        """
        self.now = Snapshot(request)
        self.folder = folder
        self._on_end = on_end
        self._stop = StopRequest()
        self._began = time.monotonic()
        self._changed = threading.Condition()
        self.is_abandoned = False

    def start(self) -> None:
        threading.Thread(target=self._run, name="train-tab", daemon=True).start()

    def end(self) -> None:
        """End the run and keep what there is; before the first step there is nothing."""
        self._set(ended_early=True)
        if self.now.step:
            self._stop.ends_early = True
        else:
            self._stop.ask()

    def abandon(self) -> None:
        """End the run as soon as possible and keep nothing; after its end this does nothing."""
        self.is_abandoned = True
        self._stop.ask()

    def wait(self, seen: Snapshot, seconds: float) -> Snapshot:
        """The newest state, as soon as it is another than `seen`, at the latest after some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self.now is not seen, seconds)
        return self.now

    def _run(self) -> None:
        broken = "The run broke off by an error of this page; what it was is in the server's log."
        end: dict[str, Any] = {"state": "failed", "problem": broken}
        try:
            record = train(self.now.request.describe_run(self.folder), observer=self, stop=self._stop)
            end = {"state": "finished", "record": record}
        except StoppedError:
            end = {"state": "stopped", "problem": "stopped before the first training step; there is nothing to keep."}
        except DivergedError:
            end["problem"] = f"diverged after step {self.now.step:,}: {DIVERGED}"
        finally:
            over = replace(self.now, **end, seconds=self._seconds)
            try:
                self._on_end(over)
            finally:
                self._show(over)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _show(self, now: Snapshot) -> None:
        with self._changed:
            self.now = now
            self._changed.notify_all()

    def _set(self, **changes: object) -> None:
        with self._changed:  # the visitor's own thread may set something too
            self._show(replace(self.now, **changes, seconds=self._seconds))

    def stepped(self, step: int, loss: float, seconds: float | None) -> None:
        self._set(state="training", step=step, losses=(*self.now.losses, (step, loss)))
        if self.now.seconds > MOST_SECONDS and not self.now.ended_early:
            self.end()

    def evaluated(self, found: Evaluation) -> None:
        self._set(curve=(*self.now.curve, (found.step, found.score.loss)), state="measuring")
        model = found.model()
        units = continuous_units(model)
        means = {name: units.of(name).mean(axis=1) for name in units.names}
        self._set(units=UnitMeans(units.t, means, units.are_gates, units.unchanged))
        config = model.config
        if config.is_continuous:
            others = [each for each in self.now.request.recipe.depth_evaluation if each != config.num_layers]
            losses = {config.num_layers: found.score.loss} | {steps: found.loss_at(steps) for steps in others}
            self._set(depths=(*self.now.depths, (found.step, dict(sorted(losses.items())))))

    def sampled(self, step: int, text: str) -> None:
        self._set(samples=(*self.now.samples, (step, text)))
