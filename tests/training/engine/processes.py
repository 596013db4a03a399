"""Starting `python -m training` as a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.training.engine.tiny import TINY_MODEL

ROOT = Path(__file__).parents[3]
CHANGES = [f"model.{name}={value}" for name, value in TINY_MODEL.items()]


# Tiny models run in no time whatever the compiler does; compiling them is what takes long.
COMPILE_FAST = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def environment(cache: Path, flags: str = "") -> dict[str, str]:
    """This process's environment, with the session's compilation cache and no network.

    Args:
        flags: More flags for XLA.
    """
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HF_HUB_OFFLINE": "1",
        "XLA_FLAGS": f"{COMPILE_FAST} {flags}",
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    }


def start(
    arguments: list[str], cache: Path, *, module: str = "training", process_group: int | None = None
) -> subprocess.Popen:
    """A process of `python -m training`, or of another module that takes its arguments."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=environment(cache),
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
