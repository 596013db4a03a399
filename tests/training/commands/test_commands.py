"""The command line: what it prints, refuses, runs and skips."""

import dataclasses
import errno
import os
import sys

import pytest

from tests.training.engine.processes import CHANGES, ROOT
from tests.training.results.factory import make_record
from training.__main__ import keep_freed_memory, main
from training.commands.children import carry_out_all
from training.commands.forecast import forecast
from training.commands.options import RunOptions
from training.commands.recipes import describe_scores
from training.commands.train import Train
from training.engine.progress import Progress, format_seconds
from training.recipes.library import RECIPES
from training.results.records import append_record, read_records, write_records

SHORT = [
    "num_steps=2",
    "warmup_steps=0",
    "batch_size=2",
    "length=8",
    "evaluation_windows=4",
    "full_evaluation=[]",
    "sample_every=0",
]


def test_recipes_are_listed_with_cost_and_score(capsys):
    assert main(["recipes"]) == 0
    shown = capsys.readouterr().out
    for recipe in RECIPES.values():
        assert f"{recipe.name}\n    {recipe.summary}" in shown
    assert "cost: under a minute on 2 CPU cores" in shown


def test_recipes_show_what_bundled_records_measured(capsys, tmp_path, monkeypatch):
    slow = {"step_ms": 300.0}
    records = [make_record(loss=2.0), make_record("neural-ode", 1, 1.0, speed=slow), make_record("neural-ode", 2, 1.5)]
    records.append(make_record("time-indexed-mlp", loss=0.1, num_steps=500))  # of an older, shorter recipe
    write_records(records, tmp_path / "runs.jsonl")
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    assert main(["recipes"]) == 0
    shown = capsys.readouterr().out
    assert "expected: valid loss 1.250 (neural-ode, 2 seeds), 2.000 (standard, 1 seed) nats per byte\n" in shown
    assert "cost: 0 to 5 minutes of steps per run, measured on cpu\n" in shown


VERBS = ["recipes", "train", "sweep", "evaluate", "report", "benchmark", "bundle", "push", "push-all", "push-space"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_that_shows_no_python_values(capsys, verb):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"usage: python -m training {verb}" in shown
    assert "None" not in shown


def test_an_out_that_is_a_file_is_refused_in_words(capsys, tmp_path):
    (tmp_path / "taken").write_text("a file")
    assert main(["train", "quick", "--out", str(tmp_path / "taken"), "--set", *SHORT]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: ")
    assert "a file stands where a folder is needed; choose another --out" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "No space left on device; make room on the disk"),
        (errno.EROFS, "Read-only file system; that disk is read-only; choose another --out"),
        (errno.EACCES, "Permission denied; choose a folder that you may read and write"),
        (errno.EIO, "Input/output error; check the path, then repeat the command"),
    ],
)
def test_errors_of_the_system_are_said_in_words(capsys, monkeypatch, number, words):
    def fail(run):
        raise OSError(number, os.strerror(number), "runs/quick/state")

    monkeypatch.setattr(Train, "run", fail)
    assert main(["train", "quick"]) == 2
    assert capsys.readouterr().err.startswith(f"error: runs/quick/state: {words}")


def test_a_run_needs_no_more_than_a_recipe(capsys):
    assert Train(recipe="quick").model == "time-indexed-ssm"
    assert main(["train", "quick", "--seed", "-1"]) == 2  # the arguments are complete; the seed is refused
    assert "seed=-1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "slow", "--model", "standard"], "unknown recipe 'slow'"),
        (["train", "quick", "--model", "lstm"], "unknown model 'lstm'"),
        (["train", "quick", "--model", "standard", "--seed", "-1"], "seed=-1 must lie in 0"),
        (["train", "quick", "--model", "standard", "--set", "model.depth=2"], "unknown field 'depth'"),
        (["train", "quick", "--model", "standard", "--coordinator", "x:1"], "need --distributed"),
        (["train", "quick", "--model", "standard", "--distributed"], "--distributed needs --devices"),
        (["evaluate", "nowhere"], "neither a folder nor a bundled checkpoint"),
        (["report", "nowhere"], "nowhere does not exist"),
        (["benchmark", "--rounds", "0"], "rounds=0 must be 1 or more"),
        (["benchmark", "--torch-python", "nowhere"], "nowhere is not a file"),
        (["benchmark", "--out", "nowhere/training.json"], "there is no folder nowhere"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(capsys, arguments, message):
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.slow
def test_train_then_evaluate_and_sweep_skips_what_is_done(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(ROOT)
    shared = ["--set", *SHORT, *CHANGES, "--out", str(tmp_path / "runs")]
    assert main(["train", "quick", "--model", "standard", *shared]) == 0
    shown = capfd.readouterr().out
    (folder,) = (tmp_path / "runs").glob("*/standard/seed-0")
    assert f"checkpoint and record: {folder}" in shown
    (record,) = read_records(tmp_path / "runs" / "runs.jsonl")
    command = record.command.split()
    assert command[:8] == ["python", "-m", "training", "train", "quick", "--model", "standard", "--seed"]
    assert str(tmp_path) not in record.to_json()

    assert main(["evaluate", str(folder), "--corpus", "builtin", "--splits", "valid"]) == 0
    assert capfd.readouterr().out.splitlines()[2].split()[:2] == ["valid", "23,314"] or sys.version_info[:2] != (3, 11)

    sweep = ["sweep", "quick", "--models", "standard", "--seeds", "0", "1", *shared]
    assert main(sweep) == 0
    assert "2 finished" in capfd.readouterr().out
    first, second = read_records(tmp_path / "runs" / "runs.jsonl")
    assert first == record  # not run again
    assert second.seed == 1


def test_sweep_skips_what_another_recipe_has_trained(tmp_path, capfd, monkeypatch):
    """The cells of an ablation that are usual models need no second run; another seed or setting does."""
    monkeypatch.chdir(ROOT)
    options = RunOptions(changes=("corpus=builtin",), out=tmp_path)
    run = options.describe_run("published-1000", "time-indexed-mlp", 42)
    identity = {**run.identity(), "kind": "time-indexed-mlp", "model": "time-indexed-mlp"}
    append_record(dataclasses.replace(make_record(), **identity), run.collection)
    arguments = ["sweep", "ablation-weights", "--models", "gated + mlp", "--seeds", "42"]
    assert main([*arguments, "--set", "corpus=builtin", "--out", str(tmp_path)]) == 0
    shown = capfd.readouterr().out
    assert "the same run as time-indexed-mlp of published-1000+corpus=builtin, which is finished" in shown
    assert "1 finished" in shown
    assert not list(tmp_path.glob("ablation*"))
    for model, seed in (("gated + mlp", 123), ("tied + mlp", 42)):
        assert options.describe_run("ablation-weights", model, seed).finished_elsewhere() is None
    assert run.finished_elsewhere() is None


def test_a_run_without_the_depths_that_are_asked_for_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    options = RunOptions(changes=("corpus=builtin", "depth_evaluation=[3]"), out=tmp_path)
    run = options.describe_run("published-1000", "time-indexed-mlp", 42)
    identity = {**run.identity(), "kind": "time-indexed-mlp", "model": "time-indexed-mlp"}
    wanted = options.describe_run("ablation-weights", "gated + mlp", 42)
    for final, answers in (({"valid_loss": 2.0}, False), ({"valid_loss": 2.0, "valid_loss_at_steps_3": 2.1}, True)):
        append_record(dataclasses.replace(make_record(), **identity, final=final), run.collection)
        assert bool(wanted.finished_elsewhere()) is answers


@pytest.mark.parametrize(
    ("recipe", "preset", "counts", "basis"),
    [
        ("published-1000", "published", ["308,460,480", "51,512,960", "715,840", "4,901,760"], "as recorded over"),
        ("published-3000", "published-large", ["617,430,932", "956,684", "9,411,600"], "an estimate from"),
    ],
)
def test_sweep_says_beforehand_what_published_shapes_take(recipe, preset, counts, basis, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["sweep", recipe, "--preset", preset, "--plan", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    lines = [line for line in shown.splitlines() if "parameters (" in line]
    assert len(lines) == len(counts)
    for line, count in zip(lines, counts, strict=True):
        assert f"{count} parameters" in line
        assert basis in line
        assert "unknown" not in line
    assert ("neural-ode is left out" in shown) == (preset == "published-large")
    assert not list(tmp_path.iterdir())


class Screen:
    """A stream that says whether it is a terminal."""

    def __init__(self, terminal: bool) -> None:
        self.text, self.terminal = "", terminal

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None: ...


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_one_line_on_a_terminal_and_plain_lines_elsewhere(terminal, monkeypatch):
    monkeypatch.setattr("training.engine.progress.PLAIN_PAUSE", 0.0)
    monkeypatch.setattr("training.engine.progress.TERMINAL_PAUSE", 0.0)
    screen = Screen(terminal)
    progress = Progress(screen, num_steps=1_000, tokens_per_step=100)
    progress.stepped(1, 5.0, 0.5)
    progress.stepped(2, 5.0, 0.5)
    progress.say("saved")
    assert "step 2/1,000  loss 5.000  200 tokens/s  8 min 19 s left" in screen.text
    assert screen.text.count("\n") == (1 if terminal else 3)
    assert screen.text.endswith("\rsaved\n" if terminal else "left\nsaved\n")


def test_durations_read_as_people_say_them():
    assert [format_seconds(value) for value in (45.2, 200, 7_500)] == ["45 s", "3 min 20 s", "2 h 5 min"]


@pytest.mark.skipif(sys.platform != "linux", reason="glibc only")
def test_freed_memory_is_kept_on_the_cpu_only(monkeypatch):
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    assert keep_freed_memory()
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    assert not keep_freed_memory()


def test_runs_at_drawn_depths_do_not_tell_what_others_take():
    recipe = RECIPES["tuned-1000"]
    label, config = recipe.configure("time-indexed-ssm")
    settings = recipe.for_model(label).settings()
    flops = {"training_per_token_formula": 1e6}

    def basis(**drawn):
        record = make_record(config.kind, settings=settings | drawn, flops=flops)
        record = dataclasses.replace(record, config=config.to_dict())
        return forecast(recipe.for_model(label), label, config, [record]).basis

    assert basis().startswith("as recorded over 1,000 steps")
    assert basis(depth_steps=[3, 6, 12]).startswith("an estimate from")


def test_a_sweep_tells_a_stop_from_a_failure(capsys):
    for code, words in ((130, "the same command continues"), (2, "its exit code is 2, see its message above")):
        jobs = [("standard, seed 1", lambda code=code: code), ("standard, seed 2", lambda: pytest.fail("not reached"))]
        assert carry_out_all(jobs) == code
        assert capsys.readouterr().err == f"stopped at standard, seed 1; {words}\n"


def test_the_loss_to_expect_is_told_by_the_runs_that_have_one():
    without = make_record("neural-ode", final={"accuracy": 0.5})
    assert describe_scores([without, make_record(loss=1.5)]) == "valid loss 1.500 (standard, 1 seed) nats per byte"
    assert describe_scores([without]) == ""
