"""Fixed against drawn depths: tables and words, from invented records."""

import pytest

from tests.training.results.factory import make_record, tuned_records, tuned_run
from training.report.figures import render
from training.report.tables import to_markdown
from training.results.groups import choose_group
from training.results.selection import Selection
from training.results.views.depths import depth_view
from training.results.views.elastic import (
    elastic_table,
    elastic_view,
    features_table,
    gains_of_gates,
    losses_at_depths,
    prices,
    prices_of_features,
    reach_table,
)
from training.results.views.elastic_words import gates_in_words, price_in_words, reach_in_words

RECORDS = tuned_records()


def test_each_model_has_its_two_rows_and_models_of_one_depth_have_none():
    lines = to_markdown(elastic_table(RECORDS)).splitlines()
    assert "loss at 2 | loss at 3 | loss at 6 | loss at 12 | loss at 18 |" in lines[0]
    shown = [line.split(" | ")[:2] for line in lines[2:]]
    assert ["| Time-Indexed SSM", "6"] in shown
    assert ["| Time-Indexed SSM", "3 (25%) 6 (50%) 12 (25%)"] in shown
    assert len(shown) == 6
    assert not any("Standard" in line or "own" in line for line in lines)


def test_the_price_is_paired_by_seed_at_the_models_own_depth():
    """Drawn depths cost 0.005, 0.006 and 0.007; a run of another recipe under the same label does not matter."""
    other = make_record("time-indexed-ssm", 0, 9.0, recipe="quick", config={"num_layers": 4})
    found = prices([*RECORDS, other])
    assert found.keys() == {(label, 6) for label in ("neural-ode", "time-indexed-ssm", "time-indexed-ssm, tied")}
    assert all(pair.difference == pytest.approx(0.006) and pair.num_seeds == 3 for pair in found.values())
    assert "Time-Indexed SSM at its own 6 depth steps +0.006 (95 % interval" in price_in_words(RECORDS)


def test_reach_compares_with_the_models_own_depth_within_the_drawn_depths():
    assert "| Time-Indexed SSM | 6 | +0.016" in to_markdown(reach_table(RECORDS))
    words = reach_in_words(RECORDS, only="time-indexed-ssm")
    assert (
        "at most 0.024 nats per byte from its loss at 6 depth steps at every number that was read from 3 to 12" in words
    )
    assert "trained at 6 alone, up to 1.200." in words
    assert "tied" not in words
    assert "tied" in reach_in_words(RECORDS)


def test_gates_are_compared_at_three_depths_with_a_correction_over_all():
    pairs = gains_of_gates(RECORDS)
    assert list(pairs) == [("time-indexed-ssm", steps) for steps in (3, 6, 12)]
    assert all(pair.difference < 0 and (pair.p_holm or 0.0) > (pair.p_value or 1.0) for pair in pairs.values())
    assert "gated minus tied: at 3 depth steps -0.02" in gates_in_words(RECORDS)
    assert "significant at 3 and 6 and 12" in gates_in_words(RECORDS)


def test_features_are_compared_with_the_usual_ones():
    runs = [tuned_run("time-indexed-ssm", seed, recipe="ablation-features") for seed in (0, 1)]
    label = "time-indexed-ssm, without dt"
    changed = [tuned_run("time-indexed-ssm, tied", seed, recipe="ablation-features", model=label) for seed in (0, 1)]
    lines = to_markdown(features_table([*runs, *changed])).splitlines()
    assert lines[2].startswith("| Time-Indexed SSM, without dt | 3 | +0.0")
    assert len(lines) == 2 + 4
    assert not prices_of_features(runs)


def test_nothing_is_said_of_what_was_not_measured():
    bare = [tuned_run("standard", seed) for seed in (0, 1)]
    assert not elastic_table(bare).rows
    assert not prices(bare)
    assert not gains_of_gates(bare)
    assert price_in_words(bare) == reach_in_words(bare) == gates_in_words(bare) == ""
    assert elastic_view(bare).missing


def test_one_seed_gives_a_price_without_a_test():
    one = tuned_records(seeds=(0,))
    assert "(1 seed)" in price_in_words(one)
    assert "too few seeds for a test" in gates_in_words(one)


def test_the_figure_has_a_line_for_every_model_and_training():
    view = elastic_view(RECORDS)
    titles = {mark.title for mark in view.points}
    assert "Time-Indexed SSM, trained at drawn depths" in titles
    assert "Time-Indexed SSM, tied, trained at 6 depth steps" in titles
    assert {mark.at for mark in view.points if mark.size == "large"} == {6}
    assert render(view, "png").startswith(b"\x89PNG")


def test_losses_far_above_leave_the_figure_so_that_the_others_can_be_told_apart():
    view = elastic_view(RECORDS)
    assert view.ceiling == pytest.approx(0.3 + max(mark.value for mark in view.points if mark.size == "large"))
    assert view.y_label.endswith("cut off above")
    drawn = elastic_view([run for run in RECORDS if run.recipe == "elastic-1000"])
    assert drawn.ceiling is None
    assert "cut off" not in drawn.y_label


def test_a_run_that_was_read_at_its_own_depth_alone_takes_no_depth_from_the_others():
    records = [*RECORDS, tuned_run("time-indexed-ssm", 7, final={"valid_loss": 9.0})]
    found = losses_at_depths(records, "tuned-1000")["time-indexed-ssm"]
    assert (found.num_seeds, list(found.at)) == (3, [2, 3, 6, 12, 18])
    view = depth_view(Selection(group=choose_group(records, recipe="tuned-1000"), source="measured"))
    marks = [mark for mark in view.points if mark.label == "time-indexed-ssm"]
    assert [(mark.at, mark.num_seeds) for mark in marks] == [(steps, 3) for steps in (2, 3, 6, 12, 18)]
