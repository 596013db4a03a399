"""The command line of fine-tuning: what it refuses, what it plans, and one run of two processes."""

from pathlib import Path

import numpy as np
import pytest
import tyro

import tipshare
from tests.adapters.test_folder import adapt
from tests.factories import fill
from tests.training.engine.test_sharding import finish, start_two
from tests.training.engine.tiny import TINY
from tipshare import adapters
from training.__main__ import main
from training.commands.finetune import Finetune
from training.finetune.grid import Grid
from training.finetune.recipe import finetune_recipe
from training.results.records import read_records


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Tiny checkpoints, an adapter and a text."""
    folder = tmp_path_factory.mktemp("finetune")
    for kind in ("standard", "time-indexed-mlp"):
        tipshare.save(fill(TINY.configure(kind)[1]), folder / kind)
    adapters.save(adapt(tipshare.load(folder / "standard")), folder / "adapter", folder / "standard")
    (folder / "text.txt").write_text("A text that says what it says, and says it again. " * 60)
    return folder


@pytest.mark.parametrize(
    ("checkpoint", "arguments", "message"),
    [
        ("standard", "", "there is no text: give a --data-dir, or one of wikitext-2"),
        ("standard", "--data-dir nowhere", "--data-dir nowhere is neither a folder nor a file"),
        ("standard", "--corpus war-and-peace", "unknown corpus 'war-and-peace'"),
        ("nothing", "--corpus builtin", "there is no folder"),
        ("adapter", "--corpus builtin", "is an adapter: merge it"),
        ("standard", "--corpus builtin --rank 0", "rank=0 must be a whole number, at least 1"),
        ("standard", "--corpus builtin --alpha 0", "alpha=0.0 must be a finite number, above 0 and at most"),
        (
            "standard",
            "--corpus builtin --targets gates",
            "target 'gates' is not a dense layer of this standard; there are",
        ),
        ("standard", "--corpus builtin --depth-steps 5", "standard with weights='own' has exactly 2 layers"),
        ("time-indexed-mlp", "--corpus builtin --depth-steps 0", "steps=0 must be a whole number, at least 1"),
        ("standard", "--corpus builtin --freeze-to-layers", "has weights of its own in each of its 2 layers already"),
        ("standard", "--corpus builtin --method gates", "standard with weights='own' has no gates to train"),
        ("standard", "--corpus builtin --method full --rank 4", "rank is of adapters, which method 'full' does not"),
        ("standard", "--corpus builtin --set model.hidden_dim=8", "the checkpoint decides the model"),
        ("standard", "--corpus builtin --set length=64", "length=64 is longer than the 16 bytes"),
        ("standard", "--corpus builtin --seeds", "there must be at least one"),
    ],
)
def test_what_cannot_be_is_one_line(checkpoint, arguments, message, folder, capsys, tmp_path):
    given = ["finetune", str(folder / checkpoint), "--out", str(tmp_path), *arguments.split()]
    assert main(given) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("error: ")
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_recipe_is_named_after_the_texts_and_fits_the_checkpoint():
    recipe = finetune_recipe("lora", "wikitext-2", "shakespeare", 64, ("num_steps=50",))
    assert (recipe.name, recipe.length) == ("finetune-wikitext-2-to-shakespeare+num_steps=50", 64)
    assert recipe.learning_rate > finetune_recipe("full", "a", "b", 64).learning_rate


def test_the_grid_has_every_run_once_and_each_can_be_started(tmp_path, capsys):
    grid = Grid(out=tmp_path, wikitext=Path("wiki"), shakespeare=Path("poems"))
    jobs = list(grid.jobs((1, 2)))
    assert len({job.name for job in jobs}) == len({job.arguments for job in jobs}) == len(jobs)
    tuned = [job for job in jobs if job.arguments[0] == "finetune"]
    described = [tyro.cli(Finetune, args=job.arguments[1:]) for job in tuned]
    assert {each.method for each in described} == {"full", "gates", "norms", "lora"}
    assert {each.rank for each in described} == {None, 2, 8, 32}
    assert {each.depth_steps for each in described} == {None, 3, 12}
    # A checkpoint is made before it is used, and what another depth gives back comes first.
    made: set[str] = set()
    for job in jobs:
        if job.arguments[0] == "train":
            options = dict(zip(job.arguments[2::2], job.arguments[3::2], strict=True))
            made.add(f"{tmp_path}/{job.arguments[1]}/{options['--model']}/seed-{options['--seed']}")
        else:
            assert job.arguments[1] in made | tipshare.KINDS.keys()
    assert len(made) == 7
    assert all(job.name.endswith("full at 3 depth steps, seed 1") for job in jobs[3:6])
    assert main(["finetune-grid", "--plan", "--first", "4", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "\nneural-ode, wikitext-2 to wikitext-2, full at 3 depth steps, seed 42\n4 runs, " in shown


@pytest.mark.slow
def test_two_processes_give_the_adapters_of_one(folder, tmp_path):
    settings = ["num_steps=6", "warmup_steps=0", "batch_size=4", "evaluation_windows=8"]
    arguments = [
        "finetune",
        str(folder / "time-indexed-mlp"),
        "--data-dir",
        str(folder / "text.txt"),
        "--set",
        *settings,
    ]
    assert main([*arguments, "--out", str(tmp_path / "one")]) == 0
    for process in start_two([*arguments, "--out", str(tmp_path / "two")]):
        code, _, errors = finish(process)
        assert code == 0, errors
    (one,), (two,) = (read_records(tmp_path / name / "runs.jsonl") for name in ("one", "two"))
    assert two.machine["num_processes"] == "2"
    np.testing.assert_allclose(two.train_curve, one.train_curve, rtol=0, atol=1e-4)
    assert tipshare.load(next(tmp_path.glob("two/*/*/seed-42"))).adapters is not None
