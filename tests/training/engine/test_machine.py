"""What a record says of the machine."""

import os
import subprocess
import sys

import pytest

from training.engine.machine import describe_processor

SAY = "from training.engine.machine import describe_machine; print(describe_machine(1)['device'])"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound to threads here")
def test_the_device_tells_how_many_threads_the_run_could_use():
    """Step times of a run that was bound to one thread must not pass for those of the whole processor."""
    bound = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}}); {SAY}"
    said = subprocess.run([sys.executable, "-c", bound], check=True, capture_output=True, text=True).stdout.strip()
    assert said.endswith(f"1 of {os.cpu_count()} threads" if (os.cpu_count() or 1) > 1 else "1 threads")


PROCESSOR = "processor\t: {}\nvendor_id\t: AuthenticAMD\ncpu family\t: {}\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\n"


def test_generations_that_share_a_name_are_told_apart():
    older, newer = (describe_processor("".join(PROCESSOR.format(n, family) for n in (0, 1)), 2) for family in (25, 26))
    assert older == "AMD EPYC (family 25, model 2), 2 threads"
    assert newer == "AMD EPYC (family 26, model 2), 2 threads"
    assert describe_processor(PROCESSOR.format(0, 26) + PROCESSOR.format(1, 26), 1).endswith("1 of 2 threads")


def test_a_processor_without_a_family_has_its_name_alone():
    assert describe_processor("processor : 0\nmodel name : Neoverse-N1\n", 1) == "Neoverse-N1, 1 threads"
    assert describe_processor("processor : 0\nBogoMIPS : 50.00\n", 1)
