"""The leading protocol: which it is, how it was run, what its variants answer; and equal time, sizes, loops."""

import dataclasses
import math

import pytest

from tests.training.results.factory import (
    TUNED_MODELS,
    group_of,
    make_record,
    published_records,
    step_report,
    tuned_records,
    tuned_run,
)
from training.report.figures import render
from training.report.tables import to_markdown
from training.results.leading import kinds_alone, leading_group
from training.results.views.equal_time import (
    curve_pairs,
    equal_time_in_words,
    equal_time_table,
    finished_pairs,
    step_times_table,
    time_view,
)
from training.results.views.loops import loop_worths, loops_table, own_blocks_table
from training.results.views.scaling import scaling_group, scaling_table, scaling_view
from training.results.views.tuned import protocol_in_words, question_pairs, settings_table, variants_table

RECORDS = tuned_records()


def test_the_tuned_protocol_leads_once_two_seeds_of_two_kinds_are_there():
    published = published_records()
    assert leading_group(published).name == "published-1000"
    assert leading_group([*published, *RECORDS]).name == "tuned-1000"
    plain = [tuned_run("standard", seed) for seed in (0, 1)]
    for missing in (
        plain,
        [*plain, tuned_run("time-indexed-ssm", 0)],
        [*plain, *(tuned_run("time-indexed-ssm", seed) for seed in (2, 3))],
        [*plain, *(tuned_run("own + ssm", seed) for seed in (0, 1))],
    ):
        assert leading_group([*published, *missing]).name == "published-1000"


def test_kinds_alone_have_no_variants_among_them():
    assert set(kinds_alone(leading_group(RECORDS)).labels) == {"standard", "neural-ode", "time-indexed-ssm"}


def test_the_protocol_is_told_from_the_runs():
    group = leading_group(RECORDS)
    assert "1,000 training steps of 8 x 128 bytes, 3 seeds" in protocol_in_words(group)
    uneven = [run for run in RECORDS if run.seed < 2 or run.model == "standard"]
    assert "2 to 3 seeds" in protocol_in_words(leading_group(uneven))
    lines = to_markdown(settings_table(group)).splitlines()
    assert lines[0] == "| model | parameters | optimizer | peak rate | rate of AdamW beside Muon |"
    assert lines[2] == "| Standard | 14,224 | Muon, AdamW beside it | 0.004 | 0.004 |"


def test_questions_are_answered_by_seed_and_corrected_together():
    pairs = question_pairs(leading_group(RECORDS))
    assert len(pairs) == 4  # there is no "own + ssm, 0.8 M"
    assert pairs["gates on t against plain sharing"].difference == pytest.approx(-0.02, abs=0.002)
    assert all((pair.p_holm or 0.0) >= (pair.p_value or 1.0) for pair in pairs.values())
    assert "| Time-Indexed SSM | 14.2 k | State space with a block per layer |" in to_markdown(
        variants_table(leading_group(RECORDS))
    )
    assert not variants_table(leading_group(published_records())).rows


def test_step_times_say_how_many_steps_the_same_time_gives():
    lines = to_markdown(step_times_table(step_report())).splitlines()
    assert lines[2:] == ["| Standard | 40 | 1.00 | 1,000 |", "| Time-Indexed SSM | 20 | 0.50 | 2,000 |"]


def test_runs_of_the_same_time_are_compared_and_others_are_not():
    """Steps of the shared block take half the time: 1,000 of them are 500 of the plain transformer, or 512."""
    shorter = [
        tuned_run("standard", seed, recipe=f"tuned-1000+num_steps={steps}", num_steps=steps, curve=[[steps, 1.5]])
        for seed in (0, 1, 2)
        for steps in (512, 700)
    ]
    faster = [tuned_run("standard", seed, recipe="tuned-1000+learning_rate=1+num_steps=500") for seed in (0, 1, 2)]
    pairs = finished_pairs([*RECORDS, *shorter, *faster], step_report())
    assert list(pairs) == [("8 x 128", "time-indexed-ssm", 1_000, 512)]
    assert pairs["8 x 128", "time-indexed-ssm", 1_000, 512].difference == pytest.approx(0.02, abs=0.002)
    words = equal_time_in_words(pairs, "time-indexed-ssm")
    assert "(1,000 of its steps, 512 of Standard), Time-Indexed SSM is 0.020 nats per byte higher (significant" in words
    assert "| 8 x 128 | Time-Indexed SSM | 1,000 | 512 | +0.020 |" in to_markdown(equal_time_table(pairs))
    assert not finished_pairs(RECORDS, step_report())
    assert equal_time_in_words({}, "time-indexed-ssm") == ""


def test_curves_are_read_when_the_first_has_finished():
    """The plain transformer is at step 500 then, half a nat above its end."""
    ((key, pair),) = curve_pairs(RECORDS, step_report()).items()
    assert key == ("8 x 128", "time-indexed-ssm", 1_000, 500)
    assert pair.difference == pytest.approx(0.02 - 0.5, abs=0.002)
    ((key, pair),) = curve_pairs(RECORDS, step_report(shared=80.0)).items()
    assert key == ("8 x 128", "time-indexed-ssm", 500, 1_000)
    assert pair.difference == pytest.approx(0.02 + 0.5, abs=0.002)


def test_another_batch_size_needs_runs_of_its_own():
    report = step_report()
    report["shapes"].append({**report["shapes"][0], "batch_size": 32})
    larger = [
        tuned_run(label, seed, recipe="tuned-1000+batch_size=32", settings={"corpus": "wikitext-2", "batch_size": 32})
        for label in ("standard", "time-indexed-ssm")
        for seed in (0, 1)
    ]
    assert [key[0] for key in curve_pairs(RECORDS, report)] == ["8 x 128"]
    assert [key[0] for key in curve_pairs([*RECORDS, *larger], report)] == ["8 x 128", "32 x 128"]


def test_the_figure_of_time_has_curves_in_minutes():
    view = time_view(RECORDS, step_report())
    assert {mark.label for mark in view.points} == {"standard", "time-indexed-ssm"}
    report = step_report()
    report["shapes"][0]["step_ms"] |= dict.fromkeys([*TUNED_MODELS, "own + ssm, 0.8 M"], 20.0)
    seventh = [tuned_run("own + ssm", seed, model="own + ssm, 0.8 M") for seed in (0, 1)]
    everything = time_view([*RECORDS, *seventh], report)
    assert {mark.label for mark in everything.points} == {*TUNED_MODELS, "own + ssm, 0.8 M"}
    assert max(mark.at for mark in view.points) == pytest.approx(1_000 * 40 / 60e3)
    assert render(view, "png").startswith(b"\x89PNG")
    assert time_view(published_records(), step_report()).missing


def sized(kind: str, size: str, count: int, loss: float):
    return make_record(
        kind,
        loss=loss,
        recipe="scaling-1000",
        model=f"{kind}, {size}",
        parameters={"total": count},
        flops={"training_per_token_formula": 6.0 * count},
        config={"mlp_ratio": count / 1e5},
    )


def test_the_front_of_sizes_is_marked():
    runs = [
        sized("standard", "0.1 M", 100_000, 1.8),
        sized("standard", "0.8 M", 800_000, 1.5),
        sized("time-indexed-ssm", "0.1 M", 90_000, 1.7),
        sized("time-indexed-ssm", "0.8 M", 780_000, 1.4),
    ]
    group = scaling_group(runs)
    assert group is not None
    lines = to_markdown(scaling_table(group)).splitlines()
    assert lines[2] == "| Standard, 0.1 M | 100,000 | 0.4 | 600 k | 1.800 | 1 |  |  |"
    assert lines[5] == "| Time-Indexed SSM, 0.8 M | 780,000 | 3.1 | 4.68 M | 1.400 | 1 | yes | yes |"
    view = scaling_view(group, "flops")
    assert [mark.at for mark in view.points if mark.is_on_front] == [540_000, 4_680_000]
    assert [mark.title for mark in view.points] == ["Standard"] * 2 + ["Time-Indexed SSM"] * 2
    assert render(view, "png").startswith(b"\x89PNG")
    assert scaling_view(group_of(runs[0]), "parameters").missing
    assert scaling_group(RECORDS) is None


def looped(label: str, seed: int, loss: float, layers: int = 6):
    return make_record("time-indexed-ssm", seed, loss, recipe="loops-1000", model=label, config={"num_layers": layers})


def own_blocks(seed: int) -> list:
    """A loss that falls by a tenth with every doubling of the blocks."""
    counts = {1: "1 layer", 2: "2 layers", 4: "4 layers"}
    return [
        looped(f"own + ssm, {name}", seed, 2.0 - 0.1 * math.log2(count) + 0.01 * seed, count)
        for count, name in counts.items()
    ]


def test_a_loop_is_worth_the_blocks_that_reach_its_loss():
    """1.9 is the loss of two blocks: phi = log 2 / log 6, whatever the seed adds to all."""
    runs = [run for seed in (0, 1) for run in own_blocks(seed)]
    runs += [looped("time-indexed-ssm", seed, 1.9 + 0.01 * seed) for seed in (0, 1)]
    tied = [looped("time-indexed-ssm", 0, 1.9), looped("time-indexed-ssm", 1, 1.5)]  # 1.5: beyond all blocks
    runs += [
        dataclasses.replace(run, model=f"{run.model}, tied", config=run.config | {"weights": "tied"}) for run in tied
    ]
    worths = {each.label: each for each in loop_worths(runs)}
    shared = worths["time-indexed-ssm"]
    assert shared.blocks.mean == pytest.approx(2.0)
    assert shared.phi.mean == pytest.approx(math.log(2) / math.log(6))
    assert shared.phi.num_seeds == 2
    assert worths["time-indexed-ssm, tied"].phi.num_seeds == 1
    assert "| Time-Indexed SSM | 6 | 1.905" in to_markdown(loops_table(runs))
    assert [line[:5] for line in to_markdown(own_blocks_table(runs)).splitlines()[2:]] == ["| 1 |", "| 2 |", "| 4 |"]


def test_without_several_numbers_of_blocks_a_loop_has_no_worth():
    assert loop_worths([looped("time-indexed-ssm", 0, 1.9), own_blocks(0)[0]]) == []
    assert loop_worths(RECORDS) == []


def test_blocks_whose_loss_rises_with_their_number_tell_nothing():
    runs = [dataclasses.replace(run, final={"valid_loss": 1.0 + place}) for place, run in enumerate(own_blocks(0))]
    assert loop_worths([looped("time-indexed-ssm", 0, 1.5), *runs]) == []


def test_every_invented_model_is_a_model_of_the_recipe():
    from training.recipes.library import RECIPES

    assert set(TUNED_MODELS) <= set(RECIPES["tuned-1000"].models)
