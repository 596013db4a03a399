"""The data of figures: what is drawn is what a CSV holds, of the runs and the source that were asked for."""

import csv
import io
from dataclasses import replace

import pytest

from tests.training.results.factory import group_of, make_record, published_records, runs
from training.results.groups import group_records
from training.results.selection import Selection
from training.results.summaries import LOSS
from training.results.views import FIGURES
from training.results.views.ablations import grid_view
from training.results.views.curves import curves_view
from training.results.views.depths import depth_view
from training.results.views.figure import lines_of
from training.results.views.losses import loss_view, parameters_view, step_time_view

GRID = [("own", "mlp"), ("own", "ssm"), ("gated", "mlp"), ("gated", "ssm"), ("tied", "mlp")]


def lines(view) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(view.to_csv())))


def cells(recipe: str, loss: float = 1.0):
    return [
        make_record(
            recipe=recipe, model=f"{weights} + {mixer}", loss=loss + place, config={"weights": weights, "mixer": mixer}
        )
        for place, (weights, mixer) in enumerate(GRID)
    ]


def read_at_depths(kind: str, recipe: str):
    final = {LOSS: 2.0, "valid_loss_at_steps_2": 2.4, "valid_loss_at_steps_4": 2.1}
    return make_record(kind, recipe=recipe, final=final)


def test_every_figure_has_numbers_of_its_own():
    selection = Selection(group=group_of(*published_records()), source="both")
    texts = [FIGURES[name](selection).to_csv() for name in ("loss", "loss_against_parameters", "step_time")]
    assert len(set(texts)) == 3
    assert [text.partition("\n")[0].split(",")[4:] for text in texts] == [
        ["seed", "loss", "low", "high"],
        ["seeds", "parameters", "loss", "low", "high", "on_pareto_front"],
        ["device", "step_ms"],
    ]


def test_the_loss_figure_has_means_with_intervals_and_seeds():
    view = loss_view(Selection(group=group_of(*runs(), make_record("neural-ode")), source="measured"))
    marks = [(line["model"], line["seed"], float(line["loss"])) for line in lines(view)]
    assert marks == [
        ("standard", "", pytest.approx(2.1)),
        *(("standard", str(seed), loss) for seed, loss in enumerate((2.0, 2.1, 2.2))),
        ("neural-ode", "", 2.0),  # a single run is its own mean
    ]
    assert float(lines(view)[0]["high"]) == view.points[0].high > 2.1


@pytest.mark.parametrize("name", FIGURES)
def test_published_figures_hold_nothing_that_was_measured(name):
    others = tuple(group_records([*cells("grid"), read_at_depths("time-indexed-mlp", "depths")]))
    view = FIGURES[name](Selection(group=group_of(*published_records()), source="published", others=others))
    if view.missing:
        assert not view.points
        with pytest.raises(ValueError, match=view.missing):
            view.to_csv()
    else:
        assert {line["source"] for line in lines(view)} == {"published"}
    assert bool(view.missing) == (name in ("learning_curves", "significance", "ablation_grid", "depth_steps"))


def test_published_curves_are_those_of_the_recipe_and_the_kinds_chosen():
    group = group_of(make_record(recipe="published-3000"), make_record("neural-ode", recipe="published-3000"))
    view = curves_view(Selection(group=group, source="published"))
    assert list(lines_of(view.points)) == ["Standard, published"]
    assert [float(line["loss"]) for line in lines(view)] == [3.150, 3.167, 3.143, 3.136, 2.896, 2.371]


def test_step_times_tell_their_device():
    fast = runs("neural-ode", machine={"device": "NVIDIA A100"})
    view = step_time_view(Selection(group=group_of(*runs(), *fast, *runs("time-indexed-mlp")), source="both"))
    assert [mark.panel for mark in view.points] == ["cpu"] * 2 + ["NVIDIA A100"] * 4
    assert [line["device"] for line in lines(view)] == [mark.panel for mark in view.points]


def test_curves_are_of_the_loss_and_the_window_that_were_asked_for():
    records = [
        make_record(seed=1, curve=[[100, 4.0], [200, 3.0], [300, 2.0]], train_curve=[[10, 5.0], [20, 4.0]]),
        make_record(seed=2, curve=[[100, 5.0], [300, 3.0]], train_curve=[[10, 4.0], [20, 3.0]]),
    ]
    selection = Selection(group=group_of(*records), source="measured")

    def shown(selection):
        return [
            tuple(float(line[name]) for name in ("step", "loss", "lowest", "highest"))
            for line in lines(curves_view(selection))
        ]

    assert shown(selection) == [(100, 4.5, 4.0, 5.0), (300, 2.5, 2.0, 3.0)]
    assert shown(replace(selection, window=2)) == shown(replace(selection, window=9)) == [(200, 3.5, 3.0, 4.0)]
    assert shown(replace(selection, curve="training")) == [(10, 4.5, 4.0, 5.0), (20, 3.5, 3.0, 4.0)]
    with pytest.raises(ValueError, match="window=0 must be a whole number of points"):
        curves_view(replace(selection, window=0))
    with pytest.raises(ValueError, match="curve='test' is not one of validation, training"):
        curves_view(replace(selection, curve="test"))


def test_a_figure_of_another_recipe_names_it_and_holds_that_recipe_alone():
    small, large = cells("small", 1.0)[:5], [*cells("large", 2.0), *runs("neural-ode", recipe="large")]
    depths = [
        read_at_depths("time-indexed-mlp", "one"),
        *(read_at_depths(k, "two") for k in ("neural-ode", "standard")),
    ]
    others = tuple(group_records([*published_records(), *small, *large, *depths]))
    selection = Selection(group=others[0], source="measured", others=others)
    grid, depth = grid_view(selection), depth_view(selection)
    assert (grid.runs, {line["recipe"] for line in lines(grid)}) == ("large", {"large"})
    assert (depth.runs, {line["recipe"] for line in lines(depth)}) == ("two", {"two"})
    assert len([line for line in lines(grid) if line["loss"]]) == 6
    chosen = grid_view(replace(selection, group=others[1]))
    assert (chosen.runs, len([line for line in lines(chosen) if line["loss"]])) == ("small", 5)


def test_the_grid_takes_the_plainest_model_of_a_cell_and_says_what_it_needs():
    records = cells("grid")
    other = make_record(model="own, no positions", recipe="grid", loss=9.0, config={"positions": "none"})
    for order in ((other, *records), (*records, other)):
        view = grid_view(Selection(group=group_of(*order)))
        assert {(cell.weights, cell.mixer): cell.label for cell in view.points}["own", "mlp"] == "own + mlp"
    rows = ("own: a block per layer", "one block, gated by t", "one block, no gates (plain sharing)")
    assert [(cell.row, cell.column) for cell in view.points] == [
        (row, at) for row in rows for at in ("MLP", "state space")
    ]
    assert [cell.colour for cell in view.points][::2] == ["#4BA3D6", "#9FCCE6", "#F3F4F6"]  # the lowest is the darkest
    assert view.points[-1].colour is None  # tied + ssm was not run
    few = grid_view(Selection(group=group_of(other, *records[:-1])))
    assert few.missing == "the grid of weight sources and mixers needs 5 cells with runs, not 4"


def test_the_matrix_agrees_with_its_numbers():
    view = FIGURES["significance"](Selection(group=group_of(*published_records())))
    cell = next(each for each in view.points if (each.row, each.column) == ("Time-Indexed SSM", "Standard"))
    assert cell.difference == pytest.approx(-0.220, abs=5e-4)
    assert cell.low < cell.difference < cell.high
    line = next(each for each in lines(view) if (each["row"], each["column"]) == (cell.row, cell.column))
    assert [float(line[name]) for name in ("difference", "low", "high", "p_value", "hedges_g")] == [
        cell.difference,
        cell.low,
        cell.high,
        cell.p_value,
        cell.hedges_g,
    ]
    assert {view.meanings[each.colour] for each in view.points} == {"row lower, p < 0.05", "not significant"}


def test_one_model_has_no_size_to_be_compared_with():
    assert "needs two models" in parameters_view(Selection(group=group_of(*runs()), source="measured")).missing
    assert parameters_view(Selection(group=group_of(*runs()), source="both")).missing == ""
