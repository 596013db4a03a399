"""Whether two models differ: tests by seed, corrected for the number of comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from training.results.effect_sizes import EffectSize, no_spread, pooled_effect
from training.results.groups import RunGroup, once_per_group
from training.results.summaries import CONFIDENCE, LOSS, Summary, summarise_group

LEVEL = 0.05
# Up to 2^16 sign flips are all tried, beyond that as many are drawn.
MOST_FLIPS = 2**16


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one test says.

    Attributes:
        statistic: t, or the mean difference for the permutation test; `None` where the test is not defined.
        degrees: Degrees of freedom of t; `None` for the permutation test.
        p_value: Two-sided; `None` where the test is not defined: equal differences on all seeds, other than zero.
    """

    statistic: float | None
    degrees: float | None
    p_value: float | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two models of a group, by one metric.

    Attributes:
        seeds: Seeds that both models have; all kinds see the same windows under one seed, so these are pairs.
        difference: Mean of `first` minus mean of `second`, over the common seeds if there are any.
        low: Lower end of its 95 % interval; `None` without a test.
        high: Upper end of it.
        paired: Paired t test over the common seeds; `None` for fewer than two.
        welch: Welch's unpaired t test over all seeds; `None` if a model has fewer than two.
        permutation: Sign-flip test over the common seeds; `None` for fewer than two.
        effect: Effect size in pooled standard deviations.
        p_holm: The p-value of the test that decides after Holm's correction over all pairs.
    """

    first: str
    second: str
    metric: str
    seeds: tuple[int, ...]
    difference: float
    low: float | None
    high: float | None
    paired: Outcome | None
    welch: Outcome | None
    permutation: Outcome | None
    effect: EffectSize | None
    p_holm: float | None = None

    @property
    def num_seeds(self) -> int:
        """Seeds that both models have."""
        return len(self.seeds)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the difference; None without a test."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def test(self) -> str | None:
        """The test that decides: `paired` where there are two common seeds, else `welch`, else none."""
        return "paired" if self.paired else "welch" if self.welch else None

    @property
    def p_value(self) -> float | None:
        """The p-value of the test that decides, before correction."""
        outcome = self.paired or self.welch
        return outcome.p_value if outcome else None

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.p_holm is not None and self.p_holm < LEVEL


def compare(first: str, second: str, summaries: dict[str, Summary], metric: str = LOSS) -> Comparison:
    """All tests of one pair of models, before correction."""
    ours, theirs = (dict(zip(summaries[each].seeds, summaries[each].values, strict=True)) for each in (first, second))
    seeds = tuple(seed for seed in ours if seed in theirs)
    left, right = ([side[seed] for seed in seeds] for side in (ours, theirs))
    all_left, all_right = list(ours.values()), list(theirs.values())
    differences = [ours[seed] - theirs[seed] for seed in seeds]
    scale = float(np.max(np.abs([*all_left, *all_right])))
    paired, interval = paired_test(left, right)
    welch, welch_interval = welch_test(all_left, all_right)
    low, high = interval if paired else welch_interval
    # A seed decides the windows: one pair says more than means over different seeds. Welch's interval is of means.
    by_seed = paired or (seeds and not welch)
    difference = np.mean(differences) if by_seed else np.mean(all_left) - np.mean(all_right)
    return Comparison(
        first=first,
        second=second,
        metric=metric,
        seeds=seeds,
        difference=float(difference),
        low=low,
        high=high,
        paired=paired,
        welch=welch,
        permutation=sign_flip_test(differences, scale=scale) if len(seeds) > 1 else None,
        effect=pooled_effect(all_left, all_right),
    )


@once_per_group  # every table, figure and sentence of a report asks for it
def compare_group(group: RunGroup, metric: str = LOSS) -> tuple[Comparison, ...]:
    """All pairs of models in a group, the tests that decide corrected over all pairs."""
    summaries = summarise_group(group, metric)
    pairs = [compare(first, second, summaries, metric) for first, second in combinations(summaries, 2)]
    decided = holm([each.p_value for each in pairs])
    return tuple(replace(each, p_holm=p) for each, p in zip(pairs, decided, strict=True))


Interval = tuple[float | None, float | None]


def paired_test(first: Sequence[float], second: Sequence[float]) -> tuple[Outcome | None, Interval]:
    """The paired t test and the interval of the mean difference; entry i of both must share a seed."""
    if len(first) != len(second):
        raise ValueError(f"a paired test needs pairs, not {len(first)} and {len(second)} values; match them by seed")
    if len(first) < 2:
        return None, (None, None)
    differences = [ours - theirs for ours, theirs in zip(first, second, strict=True)]
    if no_spread(differences, scale=float(np.max(np.abs([first, second])))):
        return _undefined(differences[0], first[0]), (None, None)
    return _t_outcome(stats.ttest_rel(first, second))


def welch_test(first: Sequence[float], second: Sequence[float]) -> tuple[Outcome | None, Interval]:
    """Welch's t test, which allows for unequal spreads, and the interval of the difference of means."""
    if min(len(first), len(second)) < 2:
        return None, (None, None)
    if no_spread(first) and no_spread(second):
        return _undefined(first[0] - second[0], first[0]), (None, None)
    return _t_outcome(stats.ttest_ind(first, second, equal_var=False))


def sign_flip_test(differences: Sequence[float], *, scale: float = 1.0) -> Outcome:
    """How often the mean difference is as large when every seed's sign is a coin toss; exact for up to 16 seeds.

    With n seeds no p-value is below 2 / 2^n: 0.0625 for five.
    """
    if len(differences) < 2:
        raise ValueError(f"a sign-flip test needs at least two differences, not {len(differences)}; run more seeds")
    if no_spread([*differences, 0.0], scale=scale):
        return Outcome(statistic=0.0, degrees=None, p_value=1.0)
    result = stats.permutation_test(
        (np.asarray(differences),),
        lambda sample, axis: np.mean(sample, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=MOST_FLIPS,
        rng=0,
    )
    return Outcome(statistic=float(np.mean(differences)), degrees=None, p_value=float(result.pvalue))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction; tests that are not defined (`None`) stay so and do not count."""
    defined = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(defined):
        largest = max(largest, min(1.0, p * (len(defined) - rank)))
        corrected[place] = largest
    return corrected


def _t_outcome(result: Any) -> tuple[Outcome, Interval]:
    interval = result.confidence_interval(CONFIDENCE)
    outcome = Outcome(statistic=float(result.statistic), degrees=float(result.df), p_value=float(result.pvalue))
    return outcome, (float(interval.low), float(interval.high))


def _undefined(difference: float, scale: float) -> Outcome:
    """A t test without spread: no difference at all is p = 1, any other has no p-value that could be trusted."""
    is_zero = no_spread([difference, 0.0], scale=abs(scale))
    return Outcome(statistic=None, degrees=None, p_value=1.0 if is_zero else None)
