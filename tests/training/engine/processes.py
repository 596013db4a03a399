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


def environment(cache: Path, flags: str = "", **more: str) -> dict[str, str]:
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
        **more,
    }


def start(arguments: list[str], cache: Path, **more: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "training", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment(cache, **more), stdout=pipe, stderr=pipe, text=True)


def finish(process: subprocess.Popen, seconds: float = 240) -> tuple[int, str, str]:
    """Exit code and both outputs."""
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, output, errors


def wait_until(condition: Callable[[], bool], process: subprocess.Popen, seconds: float = 200) -> None:
    """Wait for something a process does; fails if it ends before."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)
