"""What a record says of the machine: versions, devices and the commit of the code; no host name and no path."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import jax

LIBRARIES = ("jax", "equinox", "haliax", "optax", "numpy")


def describe_machine(num_devices: int) -> dict[str, str]:
    """Versions of the libraries, and kind and number of the devices used."""
    device = jax.devices()[0]
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "system": platform.system(),
        "platform": device.platform,
        "device": _processor() if device.platform == "cpu" else device.device_kind,
        "num_devices": str(num_devices),
        "num_processes": str(jax.process_count()),
    }


def code_commit() -> str:
    """The commit of this code, marked if files differ from it; empty outside a repository."""
    folder = Path(__file__).parent
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return commit + ("+changes" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    """The processor's name, where Linux gives it, and how many of its threads this process may use."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    return describe_processor(text, len(os.sched_getaffinity(0)))


def describe_processor(cpuinfo: str, usable: int) -> str:
    """Name, family and model of the first processor in the text of /proc/cpuinfo, and how many threads are usable.

    A virtual machine may use one name, such as "AMD EPYC", for generations whose speed differs by a factor of four.
    """
    processors = [
        {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines.splitlines())}
        for lines in cpuinfo.strip().split("\n\n")
    ]
    processors = [each for each in processors if "model name" in each]
    if not processors:
        return platform.machine()
    first, count = processors[0], len(processors)
    generation = f" (family {first['cpu family']}, model {first['model']})" if "cpu family" in first else ""
    threads = f"{usable} of {count} threads" if usable < count else f"{usable} threads"
    return f"{first['model name']}{generation}, {threads}"
