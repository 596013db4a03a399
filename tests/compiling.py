"""How tests compile: quickly rather than well, and every program once on this machine.

Tests compile thousands of small programs and run each a few times, so compiling is most of their time. What is set here
holds for the test's own process, for pytest's workers and for every process that tests start.
"""

import hashlib
import os
import platform
import shutil
from pathlib import Path

import jax

FOLDER = "JAX_COMPILATION_CACHE_DIR"
# JAX's options by their variables.
OPTIONS: dict[str, tuple[str, object]] = {
    "JAX_DISABLE_MOST_OPTIMIZATIONS": ("1", True),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": ("0", 0.0),
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": ("0", 0),
}
# XLA's newer code generator writes faster programs, and takes three times as long over these small ones.
FLAGS = "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
# Kept from one session to the next; `make clean` removes it.
KEPT = Path(__file__).parents[1] / ".cache" / "compiled"
# Old versions of programs are never asked for again: above this, everything goes.
MOST_BYTES = 1_500_000_000
# A process that reads what another is still writing compiles the program itself.
WARNINGS = "ignore:Error reading persistent compilation cache entry"


def compile_quickly() -> None:
    """Set all options here and for child processes."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = str(_kept_folder())
    os.environ.setdefault("XLA_FLAGS", FLAGS)
    os.environ["PYTHONWARNINGS"] = WARNINGS
    jax.config.update(FOLDER.lower(), os.environ[FOLDER])
    for variable, (text, value) in OPTIONS.items():
        os.environ[variable] = text
        jax.config.update(variable.lower(), value)


def compiler_environment(*flags: str) -> dict[str, str]:
    """The same for a process that inherits nothing else, with more flags for XLA."""
    return {
        **{name: os.environ[name] for name in (FOLDER, *OPTIONS)},
        "PYTHONWARNINGS": WARNINGS,
        "XLA_FLAGS": " ".join((os.environ["XLA_FLAGS"], *flags)),
    }


def _kept_folder() -> Path:
    """Where this machine keeps programs: compiled for another processor they might not run."""
    cpu = Path("/proc/cpuinfo")
    features = {line for line in cpu.read_text().splitlines() if line.startswith("flags")} if cpu.exists() else ()
    machine = " ".join((platform.platform(), platform.machine(), *sorted(features)))
    folder = KEPT / hashlib.sha256(machine.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    if sum(file.stat().st_size for file in folder.iterdir()) > MOST_BYTES:
        shutil.rmtree(folder, ignore_errors=True)
    return folder
