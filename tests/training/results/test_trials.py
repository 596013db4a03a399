"""Trials: runs with a change that may be gone from the code, beside the same runs without it."""

import dataclasses
import json

import pytest

from tests.training.results.factory import make_record, tuned_run
from training.__main__ import main
from training.report.tables import to_markdown
from training.results.trials import add_trials, read_run, read_trials, trials_of, unchanged
from training.results.views.trials import dropped_table, trials_table

SHARED = "time-indexed-ssm"


def leave_run(folder, seed: int, *, recipe: str = "elastic-1000+model.lanes=2", worse: float = 0.01):
    """A finished run of a model that no code builds any more: its config has a field that there is not."""
    record = tuned_run(SHARED, seed, recipe="elastic-1000")
    final = {name: loss + worse for name, loss in record.final.items()}
    fields = {**dataclasses.asdict(record), "recipe": recipe, "final": final}
    fields["config"] = {**record.config, "lanes": 2}
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(json.dumps(fields))
    return folder


def test_a_dropped_change_stands_beside_the_same_seeds_without_it(tmp_path, capsys):
    runs = [leave_run(tmp_path / f"seed-{seed}", seed, worse=0.01 + 0.001 * seed) for seed in (0, 1)]
    words = ["bundle", "--trials", *map(str, runs), "--about", "two lanes", "--folder", str(tmp_path / "kept")]
    assert main(words) == main(words) == 0  # the second time replaces what is there
    assert "2 trials" in capsys.readouterr().out
    dropped = read_trials(tmp_path / "kept" / "benchmarks" / "trials.jsonl")
    assert [(each.seed, each.about, each.changes) for each in dropped] == [
        (seed, "two lanes", ("model.lanes=2",)) for seed in (0, 1)
    ]
    base = [tuned_run(SHARED, seed, recipe="elastic-1000") for seed in (0, 1, 2)]
    (line,) = to_markdown(dropped_table(base, dropped)).splitlines()[2:]
    assert line.startswith("| two lanes | Time-Indexed SSM | elastic-1000 | 14.2 k | 1.39")
    assert "| +0.010 | +0.004 to +0.017 | 2 |" in line  # 0.0105 over two seeds; the third seed has no trial
    assert line.endswith("| +0.010 | +0.010 |")


def test_a_trial_without_its_base_shows_its_loss_alone(tmp_path):
    add_trials([read_run(leave_run(tmp_path / "run", 0), "two lanes")], tmp_path / "trials.jsonl")
    (trial,) = read_trials(tmp_path / "trials.jsonl")
    base = tuned_run(SHARED, 0, recipe="elastic-1000")
    other = dataclasses.replace(base, config={**base.config, "state_dim": 7})
    for known in ([], [other], [tuned_run(SHARED, 1, recipe="elastic-1000")]):
        assert unchanged(trial, trials_of(known)) is None
        (line,) = to_markdown(dropped_table(known, [trial])).splitlines()[2:]
        assert line.startswith("| two lanes | Time-Indexed SSM | elastic-1000 | 14.2 k | 1.385 | n/a |")


def test_the_base_has_the_trials_settings_but_for_what_it_changed():
    base = tuned_run(SHARED, 0, recipe="elastic-1000")
    slower = {**base.settings, "learning_rate": 1e-3}
    (trial,) = trials_of([dataclasses.replace(base, recipe="elastic-1000+learning_rate=1e-3", settings=slower)])
    assert unchanged(trial, trials_of([base])) is not None
    elsewhere = dataclasses.replace(base, settings={**base.settings, "batch_size": 32})
    assert unchanged(trial, trials_of([elsewhere])) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--trials {} --about x", "holds no record.json"),
        ("--trials {}", "--trials and --about belong together"),
        ("--about x --records {}", "--trials and --about belong together"),
    ],
)
def test_what_is_no_trial_is_refused(words, message, tmp_path, capsys):
    assert main(["bundle", *words.format(tmp_path).split(), "--folder", str(tmp_path / "kept")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def test_settings_that_were_tried_show_the_protocol_beside_them_and_the_lowest_loss():
    def tried(changes: str, loss: float, protocol: str = "tuned-1000"):
        final = {"valid_loss": loss, "valid_loss_at_steps_3": loss + 0.01, "valid_loss_at_steps_12": loss + 0.02}
        return make_record(SHARED, recipe=f"{protocol}+{changes}" if changes else protocol, final=final)

    runs = [tried("learning_rate=2e-3", 1.38), tried("model.gate=linear", 1.39), tried("", 1.37)]
    runs += [tried("learning_rate=2e-3+average_tail=0.1", 1.36, "elastic-1000"), make_record(loss=1.0)]
    runs += [tried("num_steps=1900", 1.2), tried("x=1", 1.1, "quick")]  # longer, and of another recipe
    assert to_markdown(trials_table(runs)).splitlines()[2:] == [
        "| Time-Indexed SSM | elastic-1000 | learning_rate=2e-3, average_tail=0.1 | 42 | 14.2 k | **1.360** |  "
        "| 1.370 | 1.380 |",
        "| Time-Indexed SSM | tuned-1000 | learning_rate=2e-3 | 42 | 14.2 k | 1.380 | **1.370** | 1.390 | 1.400 |",
        "| Time-Indexed SSM | tuned-1000 | model.gate=linear | 42 | 14.2 k | 1.390 | **1.370** | 1.400 | 1.410 |",
    ]
