"""The demo as a process of its own, as `python app.py` starts it."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A cold import of jax and gradio on a busy machine.
LONGEST_START = 90


@dataclass(frozen=True)
class Server:
    """A running demo."""

    address: str
    process: subprocess.Popen
    log: Path

    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def wait_for(self, text: str, seconds: float = LONGEST_START) -> None:
        """Wait until the demo has printed something."""
        ends = time.monotonic() + seconds
        while text not in self.printed():
            if time.monotonic() > ends or self.process.poll() is not None:
                raise TimeoutError(f"the demo has not printed {text!r}:\n{self.printed()}")
            time.sleep(0.1)


@contextlib.contextmanager
def running_demo(checkpoints: Path, log: Path, **environment: str) -> Iterator[Server]:
    """Serve the demo on a free port of 127.0.0.1, and end it afterwards."""
    port = free_port()
    settings = {
        **os.environ,
        "TIPSHARE_CHECKPOINTS": str(checkpoints),
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_TEMP_DIR": str(log.parent / "gradio"),
        "JAX_PLATFORMS": "cpu",
        # Compile quickly rather than well.
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        # Nothing is behind this port: what would go to the Hub fails at once, and stays on this machine.
        "HF_ENDPOINT": "http://127.0.0.1:9",
        **environment,
    }
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=settings, stdout=out, stderr=subprocess.STDOUT
        )
    server = Server(f"http://127.0.0.1:{port}", process, log)
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
    ends = time.monotonic() + LONGEST_START
    while True:
        try:
            urllib.request.urlopen(server.address + "/config", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            if time.monotonic() > ends or server.process.poll() is not None:
                raise TimeoutError(f"the demo did not start:\n{server.printed()}") from None
            time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
