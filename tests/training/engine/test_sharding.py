"""Several devices and several processes compute what one device does."""

import json
import re
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

from tests.training.engine.processes import CHANGES, ROOT, environment, finish, start, wait_until
from training.__main__ import main
from training.engine.sharding import Placement, start_processes
from training.results.records import read_records


@pytest.mark.slow
def test_eight_devices_give_the_loss_curve_of_one_and_resume(tmp_path):
    settings = environment("--xla_force_host_platform_device_count=8")
    command = [sys.executable, "-m", "tests.training.engine.eight_devices", str(tmp_path), "standard"]
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["devices"] == 8
    assert facts["piece"] == [256, 2]  # an eighth of vocab x embed
    assert facts["stopped_after"] == 10
    single = facts["curves"].pop("single")
    assert len(single) == 21
    assert single[0][1] - single[-1][1] > 0.5  # it learns: equal curves say something
    for name, curve in facts["curves"].items():
        np.testing.assert_allclose(curve, single, rtol=0, atol=1e-4, err_msg=name)
    assert facts["curves"]["resumed"] == facts["curves"]["fully sharded"]


# Numbers of depth steps that all processes must draw alike.
ELASTIC = ("depth_steps=[1,2,3]", "consistency=0.1", "model.step_features=true")


def train_tiny(num_steps: int, *others: str) -> list[str]:
    """Arguments that train a tiny model for so many steps."""
    changes = ["warmup_steps=0", "batch_size=4", "length=16", "evaluation_windows=8", "full_evaluation=[]", *CHANGES]
    changes += [f"num_steps={num_steps}", f"sample_every={num_steps}", *others]
    return ["train", "quick", "--model", "time-indexed-mlp", "--set", *changes]


def start_two(arguments: list[str]) -> list[subprocess.Popen]:
    """Two processes that train one model together."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    together = ["--devices", "fully-sharded", "--distributed", "--coordinator", address, "--num-processes", "2"]
    return [start([*arguments, *together, "--process-id", str(number)]) for number in range(2)]


@pytest.mark.slow
def test_two_processes_give_the_loss_curve_of_one(tmp_path):
    arguments = train_tiny(20, *ELASTIC)
    assert main([*arguments, "--out", str(tmp_path / "one")]) == 0
    for process in start_two([*arguments, "--out", str(tmp_path / "two")]):
        code, _, errors = finish(process)
        assert code == 0, errors
    (one,), (two,) = (read_records(tmp_path / name / "runs.jsonl") for name in ("one", "two"))
    assert (two.machine["num_devices"], two.machine["num_processes"]) == ("2", "2")
    np.testing.assert_allclose(two.train_curve, one.train_curve, rtol=0, atol=1e-4)
    np.testing.assert_allclose(two.curve, one.curve, rtol=0, atol=1e-4)


@pytest.mark.slow
def test_a_signal_to_one_of_two_processes_stops_both_at_the_same_step(tmp_path):
    processes = start_two([*train_tiny(100_000), "--out", str(tmp_path)])
    # The first state: by then both are in the loop.
    wait_until(lambda: any(tmp_path.rglob("step-*.json")), processes[0])
    processes[1].send_signal(signal.SIGTERM)
    said = []
    for process in processes:
        code, output, errors = finish(process)
        assert code == 143, errors
        said += re.findall(r"stopped by SIGTERM after step [\d,]+; its state is saved", output + errors)
    assert len(said) == 2
    assert said[0] == said[1]


def test_what_does_not_divide_over_the_devices_is_refused():
    class Four(Placement):
        num_devices = 4

    with pytest.raises(ValueError, match="batch_size=6 does not divide over 4 devices"):
        Four().check(batch_size=6, hidden_dim=8)
    with pytest.raises(ValueError, match="hidden_dim=6 does not divide over 4 devices"):
        Four(fully_sharded=True).check(batch_size=8, hidden_dim=6)
    Four().check(batch_size=8, hidden_dim=6)


def test_half_an_address_is_refused():
    with pytest.raises(ValueError, match="belong together"):
        start_processes("127.0.0.1:1", None, 0)
