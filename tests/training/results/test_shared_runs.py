"""Runs of one recipe that complete an ablation."""

from dataclasses import replace
from typing import Any

import pytest

from tests.training.results.factory import make_record
from training.recipes.library import RECIPES
from training.results.groups import choose_group, group_records
from training.results.records import RunRecord
from training.results.shared_runs import with_shared_runs

ABLATION = RECIPES["ablation-weights"]


def run_of(recipe_name: str, model: str, seed: int, loss: float = 2.0, **changes: Any) -> RunRecord:
    """A record whose config and settings are what the recipe says."""
    recipe = RECIPES[recipe_name]
    label, config = recipe.configure(model)
    fields: dict[str, Any] = {"settings": recipe.for_model(label).settings(), "config": config.to_dict(), **changes}
    return replace(make_record(config.kind, seed, loss), recipe=recipe_name, model=label, **fields)


def test_usual_models_join_the_ablation_they_are_cells_of_with_its_seeds():
    usual = [run_of("published-1000", "time-indexed-mlp", seed, 1.0 + seed) for seed in (1, 2, 3)]
    varied = [run_of("ablation-weights", "tied + mlp", seed) for seed in (1, 2)]
    group = choose_group([*usual, *varied], recipe="ablation-weights")
    seeds = {label: [run.seed for run in runs] for label, runs in group.runs.items()}
    assert seeds == {"gated + mlp": [1, 2], "tied + mlp": [1, 2]}
    assert [run.final["valid_loss"] for run in group.runs["gated + mlp"]] == [2.0, 3.0]
    assert group.runs["gated + mlp"][0].command == usual[0].command  # still tells how it was made
    assert len(choose_group([*usual, *varied], recipe="published-1000").runs["time-indexed-mlp"]) == 3


@pytest.mark.parametrize("mixer", ["mlp", "ssm"])
def test_the_gated_cells_of_the_grid_are_the_time_indexed_kinds(mixer):
    cell, usual = ABLATION.configure(f"gated + {mixer}"), RECIPES["published-1000"].configure(f"time-indexed-{mixer}")
    assert cell[1] == usual[1]


def test_a_cell_that_the_ablation_ran_itself_is_not_joined():
    usual = run_of("published-1000", "time-indexed-mlp", 1, 9.0)
    own = run_of("ablation-weights", "gated + mlp", 1, 1.5)
    assert choose_group([usual, own], recipe="ablation-weights").runs == {"gated + mlp": (own,)}


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 2},
        {"data": {"train": {"sha256": "1" * 64, "bytes": 1000}}},
        {"settings": {**ABLATION.settings(), "learning_rate": 1e-3}},
        {"config": {**ABLATION.configure("gated + mlp")[1].to_dict(), "hidden_dim": 128}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_any_other_run_stays_where_it_is(changes):
    other = run_of("published-1000", "time-indexed-mlp", **{"seed": 1, **changes})
    records = [run_of("ablation-weights", "tied + mlp", 1), other]
    assert with_shared_runs(records) == records


def test_a_recipe_of_the_kinds_is_completed_too():
    records = [run_of("published-1000", "standard", 1), run_of("ablation-weights", "gated + mlp", 1)]
    assert choose_group(records, recipe="published-1000").labels == ("standard", "time-indexed-mlp")


def test_an_ablation_without_runs_of_its_own_does_not_appear():
    records = [run_of("published-1000", "time-indexed-mlp", 1)]
    assert [group.name for group in group_records(records)] == ["published-1000"]
