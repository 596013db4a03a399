"""SIGTERM and SIGINT at every moment: the run is finished or continues exactly, and the exit code says which."""

import os
import shutil
import signal

import pytest
from safetensors.numpy import load_file

import tipshare
from tests.training.engine.processes import CHANGES, finish, start, wait_until
from tests.training.engine.tiny import assert_same_arrays, repeatable
from training.__main__ import main
from training.data import corpus
from training.engine import loop
from training.engine.evaluation import Evaluator
from training.engine.run import Run
from training.engine.signals import StopRequest
from training.engine.state import saved_steps
from training.engine.step import Program
from training.results.records import RunRecord, read_records

CHANGED = ["num_steps=4", "warmup_steps=0", "batch_size=2", "length=8", "evaluate_every=2", "save_every=2"]
CHANGED += ["evaluation_windows=4", "sample_every=0"]

# What runs when the signal comes, how often it ran before, and the step after which the run then stops.
STOPS = {
    "reading the corpus": (corpus, "load_corpus", 0, 0),
    "compiling": (Program, "compile_step", 0, 0),
    "the first evaluation": (Evaluator, "on_windows", 0, 3),
    "saving the first state": (loop, "save_state", 0, 3),
    "the last evaluation": (Evaluator, "on_windows", 1, 4),
    "saving the last state": (loop, "save_state", 1, 4),
    "scoring a whole split": (Evaluator, "on_split", 0, 4),
    "measuring costs": (loop, "flops_per_token", 0, 4),
}
FINISHES = {
    "writing the checkpoint": (tipshare, "save"),
    "collecting the record": (Run, "collect"),
    "removing the states": (shutil, "rmtree"),
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes(bytes(range(97, 105)) * 100)
    return path


def arguments(text, out) -> list[str]:
    changes = ["--set", *CHANGED, *CHANGES]
    return ["train", "quick", "--model", "standard", "--data-dir", str(text), *changes, "--out", str(out)]


def outcome(out) -> tuple[dict, dict]:
    """The record of the only run and its weights."""
    (folder,) = out.glob("*/standard/seed-0")
    record = RunRecord.from_json((folder / "record.json").read_text())
    assert read_records(out / "runs.jsonl") == [record]
    assert not (folder / "state").exists()
    return repeatable(record), load_file(folder / "model.safetensors")


@pytest.fixture(scope="module")
def undisturbed(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    assert main(arguments(text, out)) == 0
    return outcome(out)


def signal_during(monkeypatch, owner, name: str, number: int, calls_before: int = 0) -> None:
    """Send this process a signal in the middle of a function: before its work, with the rest of it to come."""
    original, calls = getattr(owner, name), []

    def signalled(*given, **named):
        if len(calls) == calls_before:
            os.kill(os.getpid(), number)
        calls.append(name)
        return original(*given, **named)

    monkeypatch.setattr(owner, name, signalled)


def assert_same_outcome(out, undisturbed) -> None:
    record, weights = outcome(out)
    assert record == undisturbed[0]
    assert_same_arrays(weights, undisturbed[1])


@pytest.mark.slow
@pytest.mark.parametrize("moment", STOPS)
def test_a_signal_before_the_end_stops_the_run_which_then_continues(
    moment, text, tmp_path, undisturbed, monkeypatch, capsys
):
    owner, name, calls_before, step = STOPS[moment]
    number = signal.SIGINT if step == 3 else signal.SIGTERM
    with monkeypatch.context() as patched:
        signal_during(patched, owner, name, number, calls_before)
        assert main(arguments(text, tmp_path)) == 128 + number
    said = f"after step {step}; its state is saved" if step else "before training began"
    assert f"stopped by {number.name} {said}" in capsys.readouterr().err
    states = [step for folder in tmp_path.glob("*/standard/seed-0/state") for step in saved_steps(folder)]
    assert max(states, default=0) == step
    assert main(arguments(text, tmp_path)) == 0
    assert_same_outcome(tmp_path, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("moment", FINISHES)
def test_a_signal_once_the_checkpoint_is_written_lets_the_run_finish(moment, text, tmp_path, undisturbed, monkeypatch):
    signal_during(monkeypatch, *FINISHES[moment], signal.SIGTERM)
    assert main(arguments(text, tmp_path)) == 0
    assert_same_outcome(tmp_path, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "number"), [("return", "SIGTERM"), ("atexit", "SIGINT"), ("shutdown", "SIGTERM"), ("shutdown", "SIGINT")]
)
def test_a_signal_at_exit_leaves_the_exit_code(moment, number, text, tmp_path, undisturbed):
    given = [moment, number, *arguments(text, tmp_path)]
    process = start(given, module="tests.training.engine.signalled")
    code, _, errors = finish(process)
    assert (code, errors) == (0, "")
    assert_same_outcome(tmp_path, undisturbed)


def test_a_repeated_sigterm_is_one_request_and_a_second_sigint_interrupts():
    stop = StopRequest()
    stop.listen()
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
    assert stop.signal == signal.SIGTERM
    stop = StopRequest()
    stop.listen()
    os.kill(os.getpid(), signal.SIGINT)
    assert stop.signal == signal.SIGINT
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_a_sweep_stops_its_run_and_the_sweep(number, text, tmp_path):
    """SIGTERM goes to the sweep alone, SIGINT to all processes of the terminal, as each usually does."""
    changed = [*CHANGED, "num_steps=1000000000", "save_every=1", "evaluate_every=1000000000"]
    options = ["--data-dir", str(text), "--set", *changed, *CHANGES, "--out", str(tmp_path)]
    sweep = ["sweep", "quick", "--models", "standard", "--seeds", "0", "1", *options]
    process = start(sweep, process_group=0)
    wait_until(lambda: any(tmp_path.rglob("step-*.json")), process)
    if number == signal.SIGTERM:
        process.send_signal(number)
    else:
        os.killpg(process.pid, number)
    code, _, errors = finish(process)
    assert code == 128 + number, errors
    assert f"stopped by {number.name} after step" in errors
    assert "stopped at standard, seed 0; the same command continues" in errors


def test_a_sweep_that_is_asked_to_stop_between_two_runs_starts_no_other(text, tmp_path, monkeypatch, capfd):
    """The signal comes after the first run was found finished elsewhere, when there is no child to pass it to."""
    signal_during(monkeypatch, Run, "finished_elsewhere", signal.SIGINT)
    options = ["--data-dir", str(text), "--set", *CHANGED, *CHANGES, "--out", str(tmp_path)]
    assert main(["sweep", "quick", "--models", "standard", *options]) == 130
    assert "stopped at standard, seed 0" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())
