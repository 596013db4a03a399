"""How large a difference is, in units of the spread between seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

# Beyond this the noncentral t distribution is no longer computed reliably, and the interval says nothing more.
LARGEST_T = 1e4


@dataclass(frozen=True, kw_only=True)
class EffectSize:
    """A difference of means over a standard deviation.

    Attributes:
        cohens_d: Difference over standard deviation.
        hedges_g: The same without the upward bias that few seeds give it.
        low: Lower end of the 95 % interval of g, from the noncentral t distribution; `None` where it is not computable.
        high: Upper end of it.
    """

    cohens_d: float
    hedges_g: float
    low: float | None
    high: float | None


def pooled_effect(first: Sequence[float], second: Sequence[float]) -> EffectSize | None:
    """Effect size of `first` minus `second` in pooled standard deviations; `None` without spread or seeds."""
    counts = len(first), len(second)
    if min(counts) < 2 or (no_spread(first) and no_spread(second)):
        return None
    degrees = sum(counts) - 2
    squares = sum((n - 1) * float(np.var(values, ddof=1)) for n, values in zip(counts, (first, second), strict=True))
    d = float(np.mean(first) - np.mean(second)) / math.sqrt(squares / degrees)
    return _with_interval(d, degrees, math.sqrt(1 / counts[0] + 1 / counts[1]))


def no_spread(values: Sequence[float], *, scale: float | None = None) -> bool:
    """Whether values are equal up to rounding, so that no test or effect size is defined on them."""
    size = float(np.max(np.abs(values))) if scale is None else scale
    return float(np.ptp(values)) <= 1e-12 * size


def bias_correction(degrees: int) -> float:
    """The factor J from Cohen's d to Hedges' g (Hedges 1981), exact."""
    return math.exp(special.gammaln(degrees / 2) - special.gammaln((degrees - 1) / 2)) / math.sqrt(degrees / 2)


def _with_interval(d: float, degrees: int, error: float) -> EffectSize:
    """The effect size d whose t statistic is d / error."""
    correction = bias_correction(degrees)
    t = d / error
    low, high = (None, None)
    if abs(t) < LARGEST_T:
        low, high = (_noncentrality(t, degrees, level) * error * correction for level in (0.975, 0.025))
    return EffectSize(cohens_d=d, hedges_g=d * correction, low=low, high=high)


def _noncentrality(t: float, degrees: int, level: float) -> float:
    """The noncentrality under which a t statistic is `t` or less with probability `level`."""

    def excess(noncentrality: float) -> float:
        return float(stats.nct.cdf(t, degrees, noncentrality)) - level

    # The probability falls as the noncentrality grows, so doubling steps to either side bracket the root.
    reach = 1.0 + abs(t)
    low, high = t - reach, t + reach
    while excess(low) < 0:
        low -= reach
    while excess(high) > 0:
        high += reach
    return optimize.root_scalar(excess, bracket=(low, high), method="brentq", xtol=1e-9).root
