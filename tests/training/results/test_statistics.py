"""Statistics: against scipy, against values worked by hand, and against the published figures."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.training.results.factory import make_record, published_records
from training.results.effect_sizes import bias_correction, pooled_effect
from training.results.groups import group_records
from training.results.published import FIVE_SEEDS
from training.results.significance import MOST_FLIPS, compare_group, holm, paired_test, sign_flip_test, welch_test
from training.results.summaries import summarise, summarise_group, summarise_runs, t_interval

LOSSES = {result.kind: result.seed_losses for result in FIVE_SEEDS.results}


def group_of(losses: dict[str, dict[int, float]]):
    (group,) = group_records(make_record(kind, seed, loss) for kind in losses for seed, loss in losses[kind].items())
    return group


def test_a_summary_worked_by_hand():
    summary = summarise([1.0, 2.0, 3.0, 4.0], seeds=[1, 2, 3, 4])
    assert summary.mean == 2.5
    assert summary.deviation == pytest.approx(math.sqrt(5 / 3))
    # t(0.975, 3 degrees) = 3.182446 from any table
    reach = 3.182446 * math.sqrt(5 / 3) / 2
    assert (summary.low, summary.high) == pytest.approx((2.5 - reach, 2.5 + reach), abs=1e-5)
    assert summary.half_width == pytest.approx(reach, abs=1e-5)


@settings(deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=2, max_size=12))
def test_the_interval_is_scipys(values):
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    low, high = t_interval(values)
    if error > 1e-9:
        expected = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (low, high) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert low <= high


def test_one_seed_has_a_mean_and_no_interval():
    summary = summarise([2.0], seeds=[42])
    assert (summary.mean, summary.deviation, summary.low, summary.high, summary.half_width) == (2.0, *[None] * 4)
    with pytest.raises(ValueError, match=r"1 seed has no spread.*run at least two"):
        t_interval([2.0])


def test_a_seed_that_counts_twice_is_refused():
    with pytest.raises(ValueError, match="repeat"):
        summarise([2.0, 2.0], seeds=[42, 42])


def test_a_metric_that_a_run_lacks_is_refused_with_those_it_has():
    with pytest.raises(ValueError, match="no final number 'test_loss_full'; it has valid_loss"):
        summarise_runs([make_record()], "test_loss_full")


@pytest.mark.parametrize("result", FIVE_SEEDS.results, ids=lambda each: each.kind)
def test_published_means_and_intervals_are_reproduced(result):
    summary = summarise(result.seed_losses, FIVE_SEEDS.seeds)
    assert summary.mean == pytest.approx(result.loss, abs=5e-4)
    assert (summary.low, summary.high) == pytest.approx(result.interval, abs=5.1e-4)
    # What stands after ± is the standard deviation with n, neither that with n-1 nor the half-width.
    assert np.std(result.seed_losses) == pytest.approx(result.spread, abs=5e-4)
    assert summary.deviation > result.spread + 0.002
    assert summary.half_width > result.spread + 0.006


def test_the_half_width_of_the_published_ssm_is_not_what_was_printed():
    summary = summarise(LOSSES["time-indexed-ssm"], FIVE_SEEDS.seeds)
    assert summary.half_width == pytest.approx(0.173, abs=5e-4)
    assert {each.kind: each.spread for each in FIVE_SEEDS.results}["time-indexed-ssm"] == 0.124


@pytest.mark.parametrize("pair", FIVE_SEEDS.p_values, ids="-".join)
def test_published_p_values_are_those_of_students_pooled_test(pair):
    first, second = (LOSSES[kind] for kind in pair)
    published = FIVE_SEEDS.p_values[pair]
    assert stats.ttest_ind(first, second).pvalue == pytest.approx(published, rel=0.01)


def test_welch_disagrees_with_the_published_test_where_spreads_differ():
    welch, _ = welch_test(LOSSES["standard"], LOSSES["time-indexed-ssm"])
    assert welch.p_value == pytest.approx(0.0227, abs=1e-4)
    assert welch.p_value > 2 * FIVE_SEEDS.p_values["standard", "time-indexed-ssm"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("standard", "neural-ode", 0.021),
        ("standard", "time-indexed-ssm", 0.015),
        ("time-indexed-mlp", "time-indexed-ssm", 0.17),
    ],
)
def test_paired_p_values_of_the_published_losses(first, second, expected):
    (group,) = group_records(published_records())
    pair = next(each for each in compare_group(group) if (each.first, each.second) == (first, second))
    assert pair.paired.p_value == pytest.approx(expected, abs=0.005 if expected > 0.1 else 5e-4)
    assert pair.test == "paired"
    assert pair.seeds == FIVE_SEEDS.seeds


def test_holm_over_the_published_pairs_leaves_the_ssm_differences_open():
    (group,) = group_records(published_records())
    significant = {(each.first, each.second): each.is_significant for each in compare_group(group)}
    assert significant == {
        ("standard", "neural-ode"): False,
        ("standard", "time-indexed-mlp"): True,
        ("standard", "time-indexed-ssm"): False,
        ("neural-ode", "time-indexed-mlp"): True,
        ("neural-ode", "time-indexed-ssm"): False,
        ("time-indexed-mlp", "time-indexed-ssm"): False,
    }


def test_t_tests_are_scipys_with_their_intervals():
    first, second = LOSSES["standard"], LOSSES["neural-ode"]
    paired, interval = paired_test(first, second)
    expected = stats.ttest_rel(first, second)
    assert (paired.statistic, paired.degrees, paired.p_value) == pytest.approx((expected.statistic, 4, expected.pvalue))
    assert interval == pytest.approx(t_interval(np.subtract(first, second)))
    welch, interval = welch_test(first, second[:3])
    expected = stats.ttest_ind(first, second[:3], equal_var=False)
    assert (welch.statistic, welch.degrees) == pytest.approx((expected.statistic, expected.df))
    assert interval == pytest.approx(tuple(expected.confidence_interval(0.95)))


@settings(deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8))
def test_the_sign_flip_test_counts_every_flip(differences):
    means = [abs(np.dot(signs, differences)) for signs in itertools.product((1, -1), repeat=len(differences))]
    expected = np.mean(np.array(means) >= abs(sum(differences)))
    assert sign_flip_test([float(each) for each in differences]).p_value == pytest.approx(min(1.0, expected))


def test_five_equal_signs_give_the_smallest_p_value_there_is():
    assert sign_flip_test([0.1, 0.2, 0.3, 0.1, 0.2]).p_value == 2 / 32


def test_many_seeds_are_flipped_at_random_but_repeatably():
    differences = list(np.random.default_rng(0).normal(0.3, 1.0, 40))
    assert 2 ** len(differences) > MOST_FLIPS
    first, second = sign_flip_test(differences), sign_flip_test(differences)
    assert first == second
    assert first.p_value == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.01)


def test_holm_worked_by_hand():
    # Sorted 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5 x 1; 0.03 x 2 may not fall below 0.06 of the one before.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.6, None, 0.7]) == [1.0, None, 1.0]
    assert holm([]) == []


def test_effect_sizes_worked_by_hand():
    # Means 2 and 4, both variances 1: d = -2. J for 4 degrees is sqrt(2 / pi) = 0.7979.
    effect = pooled_effect([1.0, 2.0, 3.0], [3.0, 4.0, 5.0])
    assert effect.cohens_d == pytest.approx(-2.0)
    assert bias_correction(4) == pytest.approx(math.sqrt(2 / math.pi))
    assert effect.hedges_g == pytest.approx(-2 * math.sqrt(2 / math.pi))
    assert effect.low < effect.hedges_g < effect.high


def test_the_interval_of_an_effect_size_excludes_zero_exactly_when_the_test_does():
    generator = np.random.default_rng(3)
    verdicts = set()
    for shift in np.linspace(0, 3, 30):
        first, second = generator.normal(0, 1, 6), generator.normal(shift, 1, 6)
        effect = pooled_effect(first, second)
        p_value = stats.ttest_ind(first, second).pvalue
        assert (effect.low > 0 or effect.high < 0) == (p_value < 0.05)
        verdicts.add(p_value < 0.05)
    assert verdicts == {True, False}


def test_the_interval_of_an_effect_size_covers_the_truth():
    generator = np.random.default_rng(5)
    correction = bias_correction(8)
    effects = [pooled_effect(generator.normal(1.0, 1, 5), generator.normal(0, 1, 5)) for _ in range(300)]
    covered = np.mean([each.low <= correction <= each.high for each in effects])
    assert covered == pytest.approx(0.95, abs=0.03)


def test_huge_effects_lose_their_interval_and_nothing_else():
    effect = pooled_effect([1.0, 1.0 + 1e-7], [2.0, 2.0 + 1e-7])
    assert effect.cohens_d < -1e6
    assert (effect.low, effect.high) == (None, None)


def test_different_seed_sets_are_paired_on_the_common_ones():
    group = group_of({"standard": {0: 9.0, 1: 2.0, 2: 2.2, 3: 2.1}, "time-indexed-mlp": {2: 2.3, 3: 2.3, 1: 2.1}})
    (pair,) = compare_group(group)
    assert pair.seeds == (1, 2, 3)
    assert pair.difference == pytest.approx(-np.mean([0.1, 0.1, 0.2]))
    assert pair.paired.p_value == pytest.approx(stats.ttest_rel([2.0, 2.2, 2.1], [2.1, 2.3, 2.3]).pvalue)
    assert pair.welch.degrees < 5  # all seven runs


def test_without_common_seeds_welch_decides():
    group = group_of({"standard": {1: 2.0, 2: 2.2}, "time-indexed-mlp": {3: 1.0, 4: 1.1}})
    (pair,) = compare_group(group)
    assert (pair.paired, pair.permutation, pair.test) == (None, None, "welch")
    assert pair.p_holm == pair.welch.p_value
    assert pair.difference == pytest.approx(1.05)
    assert pair.low < 1.05 < pair.high


def test_one_seed_each_gives_a_difference_and_no_test():
    (pair,) = compare_group(group_of({"standard": {1: 2.0}, "time-indexed-mlp": {1: 1.5}}))
    assert pair.difference == pytest.approx(0.5)
    assert (pair.test, pair.p_value, pair.p_holm, pair.low, pair.effect) == (None,) * 5
    assert not pair.is_significant


def test_one_common_seed_tells_the_difference_where_no_test_can():
    (pair,) = compare_group(group_of({"standard": {1: 2.0, 2: 3.0}, "time-indexed-mlp": {1: 1.5}}))
    assert (pair.seeds, pair.test) == ((1,), None)
    assert pair.difference == pytest.approx(0.5)


def test_identical_losses_are_no_difference():
    (pair,) = compare_group(group_of({kind: {1: 2.0, 2: 2.0, 3: 2.0} for kind in ("standard", "neural-ode")}))
    assert (pair.difference, pair.p_value, pair.permutation.p_value, pair.effect) == (0.0, 1.0, 1.0, None)


def test_a_constant_difference_is_not_called_significant():
    first = {seed: 2.0 + 0.1 * seed for seed in range(5)}
    group = group_of({"standard": first, "time-indexed-mlp": {seed: loss - 0.3 for seed, loss in first.items()}})
    (pair,) = compare_group(group)
    assert (pair.paired.p_value, pair.p_holm) == (None, None)
    assert not pair.is_significant
    assert pair.permutation.p_value == 2 / 32


def test_runs_without_the_metric_are_left_out():
    records = [
        make_record(seed=1, final={"valid_loss": 2.0, "test_loss_full": 2.5}),
        make_record(seed=2),
        make_record("neural-ode", seed=1),
    ]
    (group,) = group_records(records)
    assert {label: each.values for label, each in summarise_group(group, "test_loss_full").items()} == {
        "standard": (2.5,)
    }
