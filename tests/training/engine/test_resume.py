"""Real processes: killed, stopped and started twice on one folder."""

import random
import signal
import time

import pytest
from safetensors.numpy import load_file

from tests.training.engine.processes import CHANGES, finish, start, wait_until
from tests.training.engine.tiny import assert_same_arrays, repeatable
from training.engine.state import saved_steps
from training.results.records import RunRecord, read_records


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_bit_identical_to_one_never_stopped(tmp_path):
    text = tmp_path / "text.txt"
    text.write_bytes(bytes(random.Random(5).choices(range(97, 105), k=8_000)))
    changes = ["num_steps=800", "save_every=50", "evaluate_every=300", "batch_size=2", "length=8", "sample_every=0"]
    arguments = ["train", "quick", "--model", "standard", "--data-dir", str(text), "--set", *changes, *CHANGES]

    def launch(out: str):
        return start([*arguments, "--out", str(tmp_path / out)])

    def launch_waiting(step: int):
        """Waits there for a signal, so that none can come too late."""
        given = [str(step), *arguments, "--out", str(tmp_path / "killed")]
        return start(given, module="tests.training.engine.waiting")

    code, _, errors = finish(launch("whole"))
    assert code == 0, errors
    (whole_folder,) = (tmp_path / "whole").glob("*/standard/seed-0")
    folder = tmp_path / "killed" / whole_folder.relative_to(tmp_path / "whole")
    moments = random.Random()  # another moment each time
    reached = 0
    for ending in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        process = launch_waiting(reached + 250)
        wait_until(lambda: max(saved_steps(folder / "state"), default=0) > reached, process)  # noqa: B023
        if not reached:
            code, _, errors = finish(launch("killed"))
            assert (code, "another process holds" in errors) == (4, True)
        time.sleep(moments.uniform(0, 0.3))
        process.send_signal(ending)
        code, _, errors = finish(process)
        assert code == (143 if ending == signal.SIGTERM else -signal.SIGKILL), errors
        reached = saved_steps(folder / "state")[0]
    code, output, errors = finish(launch("killed"))
    assert code == 0, errors
    assert f"continuing after step {reached:,}" in output
    records = [RunRecord.from_json((each / "record.json").read_text()) for each in (whole_folder, folder)]
    assert repeatable(records[0]) == repeatable(records[1])
    assert_same_arrays(*(load_file(each / "model.safetensors") for each in (whole_folder, folder)))
    assert (whole_folder / "metrics.jsonl").read_text() == (folder / "metrics.jsonl").read_text()
    assert read_records(tmp_path / "killed" / "runs.jsonl") == [records[1]]
