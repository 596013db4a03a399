"""What the README says about sharing, gates and time."""

import pytest

from tests.training.results.test_shared_runs import run_of
from training.report.tables import to_markdown
from training.results.views.ablations import (
    CONSTANT,
    QUESTIONS,
    TIME_INVARIANT,
    ablation_cells,
    ablation_table,
    answers,
    question_table,
)

LOSSES = {
    ("ablation-weights", "own + ssm"): (1.50, 1.51, 1.53),
    ("ablation-weights", "generated + ssm"): (1.52, 1.54, 1.54),
    ("published-1000", "time-indexed-ssm"): (1.56, 1.57, 1.58),
    ("ablation-time", "time-indexed-ssm, t constant"): (1.60, 1.60, 1.63),
    ("ablation-weights", "tied + ssm"): (1.61, 1.63, 1.62),
}
RECORDS = [
    run_of(recipe, model, seed, loss) for (recipe, model), losses in LOSSES.items() for seed, loss in enumerate(losses)
]


def test_cells_come_from_both_ablations_and_from_the_usual_models():
    cells = ablation_cells(RECORDS)
    assert {source for source, mixer in cells} == {"own", "generated", "gated", CONSTANT, "tied"}
    assert {mixer for _, mixer in cells} == {"ssm"}
    rows = to_markdown(ablation_table(cells)).splitlines()[2:]
    assert rows[0].startswith("| own: a block per layer | n/a | n/a | 14.2 k | 1.513 ± 0.0")
    assert rows[1].startswith("| generated from t | n/a | n/a | ")
    assert rows[2].startswith("| one block, gated by t | n/a | n/a | 14.2 k | 1.570 ± 0.025")
    assert len(rows) == 5


def test_differences_are_paired_by_seed_and_corrected_over_the_questions_alone():
    found = answers(ablation_cells(RECORDS))
    plain, constant, own, generated = (
        found[question, "ssm"] for question, _, second in QUESTIONS if second != TIME_INVARIANT
    )
    assert plain.difference == pytest.approx(-0.05)
    assert constant.difference == pytest.approx(-0.04)
    assert own.difference == pytest.approx(0.17 / 3)
    assert generated.difference == pytest.approx(0.02)
    assert all(pair.test == "paired" for pair in found.values())
    ranked = sorted((pair.p_value, pair.p_holm) for pair in found.values())
    assert ranked[0][1] == pytest.approx(4 * ranked[0][0])
    assert ranked[-1][1] == pytest.approx(max(ranked[-1][0], ranked[2][1]))
    rows = to_markdown(question_table(ablation_cells(RECORDS))).splitlines()[2:]
    assert rows[0].startswith("| gates on t against plain sharing | state space | -0.050 | -0.0")
    assert len(rows) == 4


def test_one_seed_gives_a_difference_and_no_test():
    cells = ablation_cells([each for each in RECORDS if each.seed == 0])
    assert to_markdown(question_table(cells)).splitlines()[2] == (
        "| gates on t against plain sharing | state space | -0.050 | n/a | 1 | n/a | n/a |"
    )
