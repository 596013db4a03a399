"""Starting `python -m training` as a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.compiling import compiler_environment
from tests.training.engine.tiny import TINY_MODEL

ROOT = Path(__file__).parents[3]
CHANGES = [f"model.{name}={value}" for name, value in TINY_MODEL.items()]


def environment(*flags: str) -> dict[str, str]:
    """This process's environment, with more flags for XLA and no network."""
    return {**os.environ, **compiler_environment(*flags), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}


def start(arguments: list[str], *, module: str = "training", process_group: int | None = None) -> subprocess.Popen:
    """A process of `python -m training`, or of another module that takes its arguments."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=process_group,
    )


def finish(process: subprocess.Popen) -> tuple[int, str, str]:
    """Exit code and both outputs; one that does not end is killed when pytest's limit on a test interrupts this."""
    try:
        output, errors = process.communicate()
    finally:
        process.kill()
    return process.returncode, output, errors


def wait_until(condition: Callable[[], bool], process: subprocess.Popen) -> None:
    """Wait for something a process does; fails if it ends before."""
    try:
        while not condition():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
    except BaseException:
        process.kill()
        raise
