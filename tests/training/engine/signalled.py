"""`python -m training` in a process that sends itself a signal on its way out: when, which, then the arguments."""

import atexit
import os
import signal
import sys

from training.__main__ import main


class DuringShutdown:
    """Sends the signal when Python takes down its modules, after the functions of `atexit` have run."""

    def __init__(self, number: int) -> None:
        self.number, self.kill, self.process = number, os.kill, os.getpid()

    def __del__(self) -> None:
        self.kill(self.process, self.number)


if __name__ == "__main__":
    moment, number = sys.argv[1], signal.Signals[sys.argv[2]]
    if moment == "shutdown":
        during_shutdown = DuringShutdown(number)
    code = main(sys.argv[3:])
    if moment == "return":
        os.kill(os.getpid(), number)
    elif moment == "atexit":
        atexit.register(os.kill, os.getpid(), number)
    sys.exit(code)
