"""Turns of a benchmark: all parties alike, and none that others on the machine have disturbed."""

from types import SimpleNamespace
from typing import Any

import jax.random as jr
import numpy as np
import pytest

from tests.training.report.test_readme_results import depth_report
from tests.training.results.factory import make_record
from tipshare.config import KINDS
from training.benchmarks import peer
from training.benchmarks.depth import measure_early_exit
from training.benchmarks.generation import measure_other_depths
from training.benchmarks.peer import MOST_REPEATS, measure_turns
from training.benchmarks.training import measure, measure_tuned
from training.commands.depth import write_depth_report
from training.engine.machine import describe_machine
from training.finetune.choices import name_of
from training.report.readme import PAGES


class Party:
    """Takes one second more in each turn."""

    def __init__(self, name: str):
        self.name, self.turns = name, 0

    def seconds(self, what: int) -> float:
        self.turns += what
        return float(self.turns)


def test_parties_take_turns_and_the_first_round_does_not_count(monkeypatch):
    monkeypatch.setattr(peer, "stolen_seconds", lambda: 0.0)
    assert measure_turns([Party("a"), Party("b")], 1, rounds=2) == {"a": [2.0, 3.0], "b": [2.0, 3.0]}


def test_a_turn_during_which_processors_were_taken_away_is_repeated(monkeypatch):
    clock = iter([0.0, 0.0, 5.0, 9.0, 9.0, 9.0])  # before and after each turn: only the second one is disturbed
    monkeypatch.setattr(peer, "stolen_seconds", lambda: next(clock))
    assert measure_turns([Party("a")], 1, rounds=1) == {"a": [3.0]}


def test_a_machine_that_is_never_quiet_is_measured_all_the_same(monkeypatch):
    clock = iter(range(1_000))
    monkeypatch.setattr(peer, "stolen_seconds", lambda: float(next(clock)))
    party = Party("a")
    measure_turns([party], 1, rounds=1)
    assert party.turns == 2 * MOST_REPEATS


def test_stolen_time_only_grows():
    first = peer.stolen_seconds()
    assert 0.0 <= first <= peer.stolen_seconds()


def test_training_is_measured_without_torch(monkeypatch):
    monkeypatch.setattr(peer, "stolen_seconds", lambda: 0.0)
    report = measure(None, rounds=1, threads=1, kinds=("time-indexed-mlp",))
    assert report["machine"]["device"] == describe_machine(1)["device"]
    assert "torch" not in report["machine"]
    assert report["matrix_product_operations_per_second"] > 0
    numbers = report["parties"].pop("time-indexed-mlp")
    assert not report["parties"]
    assert numbers["step_ms"] > 0
    assert numbers["share_of_matrix_product_rate"] > 0  # no upper limit: other tests take the cores at any moment


def test_step_times_are_those_of_each_model_at_every_batch_size(monkeypatch):
    monkeypatch.setattr(peer, "stolen_seconds", lambda: 0.0)
    report = measure_tuned(rounds=1, models=("time-indexed-mlp",), batches=(1, 2), recipe_name="quick")
    assert [(shape["batch_size"], shape["length"]) for shape in report["shapes"]] == [(1, 64), (2, 64)]
    assert all(shape["step_ms"]["time-indexed-mlp"] > 0 for shape in report["shapes"])
    assert report["recipe"] == "quick"
    with pytest.raises(ValueError, match="unknown model 'lstm'"):
        measure_tuned(rounds=1, models=("lstm",), recipe_name="quick")


def test_models_with_a_choice_are_measured_at_several_depths_relative_to_their_own(monkeypatch):
    monkeypatch.setattr(peer, "stolen_seconds", lambda: 0.0)
    size: dict[str, Any] = {"num_layers": 2, "hidden_dim": 16, "num_heads": 2, "max_position_embeddings": 8}
    parties: list[Any] = [
        SimpleNamespace(name=kind, shape="default", model=KINDS[kind](**size).build(key=jr.key(0)))
        for kind in ("standard", "time-indexed-mlp")
    ]
    found = measure_other_depths(parties, (1,), rounds=1)
    assert found.keys() == {"time-indexed-mlp"}
    assert list(found["time-indexed-mlp"]) == ["1", "2"]
    own = found["time-indexed-mlp"]["2"]
    assert own["writing_speed"] == own["reading_speed"] == 1.0


def test_a_model_of_one_depth_step_has_no_early_exit():
    size: dict[str, Any] = {"num_layers": 1, "hidden_dim": 16, "num_heads": 2, "max_position_embeddings": 8}
    model = KINDS["time-indexed-mlp"](**size).build(key=jr.key(0))
    assert measure_early_exit(model, np.zeros((2, 9), np.uint8)) == []


def test_depth_reports_are_called_after_their_runs_and_stand_beside_each_other(tmp_path):
    """Folders of runs end in seed-N, whatever was trained."""
    for recipe in ("quick", "quick+num_steps=50"):
        record = make_record(recipe=recipe, seed=0)
        checkpoint: Any = SimpleNamespace(origin="path", record=record, folder=tmp_path / recipe / "seed-0")
        report = {**depth_report(), "checkpoint": name_of(checkpoint, checkpoint.folder), "early_exit": []}
        write_depth_report(report, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.json")) == [
        "depth-quick+num_steps=50-standard-seed-0.json",
        "depth-quick-standard-seed-0.json",
    ]
    assert "average depth" not in (PAGES["docs/results/depth.md"]["early exit"]((), tmp_path) or "")
