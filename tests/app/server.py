"""The demo as a process of its own.

Nothing here waits for a number of seconds: what never happens meets pytest's limit on a test.
"""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Server:
    """A running demo.

    Attributes:
        hold: A file that `tests.app.held_demo` reads.
    """

    address: str
    process: subprocess.Popen
    log: Path
    hold: Path

    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def wait_for(self, text: str) -> None:
        """Wait until the demo has printed something."""
        while text not in self.printed():
            if self.process.poll() is not None:
                raise RuntimeError(f"the demo ended and has not printed {text!r}:\n{self.printed()}")
            time.sleep(0.1)


@contextlib.contextmanager
def running_demo(
    checkpoints: Path, log: Path, program: Sequence[str] = ("app.py",), *, root: Path = ROOT, **environment: str
) -> Iterator[Server]:
    """Serve the demo of a checkout on a free port of 127.0.0.1, and end it afterwards."""
    port, hold = free_port(), log.parent / "hold"
    settings = {
        **os.environ,
        "TIPSHARE_CHECKPOINTS": str(checkpoints),
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_TEMP_DIR": str(log.parent / "gradio"),
        "JAX_PLATFORMS": "cpu",
        # Compile quickly rather than well.
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        # Other depths than the models' own are compiled when a test asks for them.
        "TIPSHARE_WARM_DEPTHS": "0",
        # Nothing is behind this port: what would go to the Hub fails at once, and stays on this machine.
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HOLD": str(hold),
        **environment,
    }
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, *program], cwd=root, env=settings, stdout=out, stderr=subprocess.STDOUT
        )
    server = Server(f"http://127.0.0.1:{port}", process, log, hold)
    try:
        wait_until_up(server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_up(server: Server) -> None:
    while True:
        try:
            urllib.request.urlopen(server.address + "/config").close()
            return
        except (urllib.error.URLError, ConnectionError):
            if server.process.poll() is not None:
                raise RuntimeError(f"the demo did not start:\n{server.printed()}") from None
            time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
