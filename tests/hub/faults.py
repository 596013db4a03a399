"""Troubles that a test can switch on."""

import threading
from dataclasses import dataclass, field
from typing import Literal

Trouble = Literal["error", "slow", "cut-request", "cut-reply", "lost-reply", "wrong-content", "full"]


@dataclass
class Fault:
    """What goes wrong with requests of a method whose path contains a text.

    Attributes:
        trouble: `error` answers 500; `slow` waits first; `cut-request` hangs up in the middle of reading the body;
            `cut-reply` in the middle of sending the file; `lost-reply` does the work and then hangs up;
            `wrong-content` sends a file with one bit flipped; `full` answers that the quota is used up.
        times: How often; later requests go well.
        skip: How many such requests go well before.
    """

    trouble: Trouble
    method: str
    path: str = ""
    times: int = 1
    skip: int = 0


@dataclass
class Faults:
    """The troubles still to come, and those that happened."""

    waiting: list[Fault] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, trouble: Trouble, method: str, path: str = "", *, times: int = 1, skip: int = 0) -> None:
        self.waiting.append(Fault(trouble, method, path, times, skip))

    def take(self, method: str, path: str) -> Trouble | None:
        """The trouble of this request, if it is its turn."""
        with self.lock:
            for fault in self.waiting:
                if fault.method == method and fault.path in path and fault.times:
                    if fault.skip:
                        fault.skip -= 1
                        return None
                    fault.times -= 1
                    self.happened.append(f"{fault.trouble} {method} {path}")
                    return fault.trouble
        return None

    def clear(self) -> None:
        with self.lock:
            self.waiting.clear()
            self.happened.clear()
