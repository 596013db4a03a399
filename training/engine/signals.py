"""Being told to stop: SIGTERM and SIGINT ask a run to save its state first."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class StopRequest:
    """Whether a signal asked the run to stop, and which."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None

    def __bool__(self) -> bool:
        return self.signal is not None


class StoppedError(Exception):
    """The run was asked to stop and saved its state."""

    def __init__(self, step: int, request: StopRequest) -> None:
        # With several processes the signal may have gone to another one.
        cause = request.signal or signal.SIGTERM
        super().__init__(f"stopped by {cause.name} after step {step}; its state is saved, the same command continues")
        # What a shell expects of a process that ended by this signal.
        self.exit_code = 128 + cause


@contextlib.contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Turn the first SIGTERM or SIGINT into a request; a second one ends the process at once, as usual."""
    request = StopRequest()
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}

    def restore() -> None:
        for each, handler in before.items():
            signal.signal(each, handler)

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        request.signal = signal.Signals(number)
        restore()

    for each in before:
        signal.signal(each, note)
    try:
        yield request
    finally:
        restore()
