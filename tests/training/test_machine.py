"""What a record says of the machine."""

import os
import subprocess
import sys

import pytest

SAY = "from training.machine import describe_machine; print(describe_machine(1)['device'])"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound to threads here")
def test_the_device_tells_how_many_threads_the_run_could_use():
    """Step times of a run that was bound to one thread must not pass for those of the whole processor."""
    bound = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}}); {SAY}"
    said = subprocess.run([sys.executable, "-c", bound], check=True, capture_output=True, text=True).stdout.strip()
    assert said.endswith(f"1 of {os.cpu_count()} threads" if (os.cpu_count() or 1) > 1 else "1 threads")
