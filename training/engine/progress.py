"""The progress of a run: a line that is rewritten on a terminal, separate lines elsewhere."""

import time
from typing import TextIO

from training.engine.observer import Evaluation, Observer

# Seconds between two displays.
TERMINAL_PAUSE = 0.2
PLAIN_PAUSE = 15.0
# Weight of the newest value in the running averages of loss and step time.
NEWEST = 0.05


class Progress(Observer):
    """Shows step, loss, tokens per second and time left."""

    def __init__(self, stream: TextIO, *, num_steps: int, tokens_per_step: int) -> None:
        self._stream = stream
        self._num_steps = num_steps
        self._tokens_per_step = tokens_per_step
        self._on_terminal = stream.isatty()
        self._last_shown = time.monotonic()
        self._loss: float | None = None
        self._step_seconds: float | None = None
        self._shown_width = 0

    def stepped(self, step: int, loss: float, seconds: float | None) -> None:
        """Add a finished step, and show it unless the last display was a moment ago."""
        self._loss = loss if self._loss is None else (1 - NEWEST) * self._loss + NEWEST * loss
        if seconds is not None:
            before = seconds if self._step_seconds is None else self._step_seconds
            self._step_seconds = (1 - NEWEST) * before + NEWEST * seconds
        now = time.monotonic()
        if now - self._last_shown >= (TERMINAL_PAUSE if self._on_terminal else PLAIN_PAUSE):
            self._last_shown = now
            self._show(self._line(step))

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._wipe()
        print(text, file=self._stream, flush=True)

    def evaluated(self, found: Evaluation) -> None:
        score = found.score
        self.say(f"step {found.step:,}: valid loss {score.loss:.4f} nats, {score.bits_per_byte:.4f} bits per byte")

    def sampled(self, step: int, text: str) -> None:
        self.say(f"step {step:,}: sample {text!r}")

    def _line(self, step: int) -> str:
        line = f"step {step:,}/{self._num_steps:,}  loss {self._loss:.3f}"
        if self._step_seconds:
            left = (self._num_steps - step) * self._step_seconds
            line += f"  {self._tokens_per_step / self._step_seconds:,.0f} tokens/s  {format_seconds(left)} left"
        return line

    def _show(self, line: str) -> None:
        if not self._on_terminal:
            print(line, file=self._stream, flush=True)
            return
        self._wipe()
        print(line, end="", file=self._stream, flush=True)
        self._shown_width = len(line)

    def _wipe(self) -> None:
        if self._shown_width:
            print("\r" + " " * self._shown_width + "\r", end="", file=self._stream)
            self._shown_width = 0


def format_seconds(seconds: float) -> str:
    """A duration such as 45 s, 3 min 20 s or 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
