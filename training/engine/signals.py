"""SIGTERM and SIGINT ask a command to stop: a run saves its state first, and the exit code says which it was.

A program may ask for the same, or for an early end, from another thread.
"""

import atexit
import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StoppedError(Exception):
    """A signal stopped the run; the same command continues it."""

    def __init__(self, cause: signal.Signals, step: int) -> None:
        after = f"after step {step}; its state is saved, the same command continues"
        before = "before training began; the same command starts again"
        super().__init__(f"stopped by {cause.name} {after if step else before}")
        self.exit_code = exit_code(cause)


class StopRequest:
    """Whether a signal asked to stop, and which.

    Attributes:
        signal: The first signal that came.
        ends_early: Set it to end a run after the present step as if it were the last: it is evaluated, recorded and
            saved as it is, and cannot be continued.
    """

    def __init__(self, on_signal: Callable[[int], object] | None = None) -> None:
        """Listens to no signal until `listen`; `on_signal` is called with the number of every signal."""
        self.signal: signal.Signals | None = None
        self.ends_early = False
        self._on_signal = on_signal
        self._interrupt: Callable[[], None] | None = None

    @property
    def is_set(self) -> bool:
        return self.signal is not None

    def ask(self) -> None:
        """Ask as SIGTERM does, from any thread; what is being compiled or scored is completed first."""
        self.signal = self.signal or signal.SIGTERM

    def listen(self) -> None:
        """Take note of signals until the process ends; a second SIGINT (Ctrl-C) ends the process at once.

        A repeated SIGTERM is the same request: `timeout` and some schedulers send it twice.
        """
        for each in SIGNALS:
            signal.signal(each, self._note)
        # Python restores the default handlers while it shuts down; by then the exit code is decided.
        atexit.register(_ignore_signals)

    @contextlib.contextmanager
    def interruptible(self, step: int = 0) -> Iterator[None]:
        """Run a block that writes nothing: a signal inside, or one noted before, raises StoppedError at once."""

        def interrupt() -> None:
            if self.signal is not None:
                raise StoppedError(self.signal, step)

        self._interrupt = interrupt
        try:
            interrupt()
            yield
        finally:
            self._interrupt = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.signal is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = self.signal or signal.Signals(number)
        if self._on_signal is not None:
            self._on_signal(number)
        if self._interrupt is not None:
            self._interrupt()


def exit_code(cause: int) -> int:
    """What a shell expects of a process that ended by this signal."""
    return 128 + cause


def _ignore_signals() -> None:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
