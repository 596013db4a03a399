"""What several seeds of one model say together: mean, spread and interval."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from training.results.groups import RunGroup
from training.results.records import RunRecord

CONFIDENCE = 0.95
LOSS = "valid_loss"
_AT_STEPS = re.compile(rf"^{LOSS}_at_steps_(\d+)$")


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One metric of one model over its seeds.

    Attributes:
        seeds: The seeds, in the order of `values`.
        deviation: Standard deviation with n-1; `None` for one seed.
        low: Lower end of the 95 % t interval of the mean; `None` for one seed.
        high: Upper end of it.
    """

    seeds: tuple[int, ...]
    values: tuple[float, ...]
    mean: float
    deviation: float | None
    low: float | None
    high: float | None

    @property
    def num_seeds(self) -> int:
        return len(self.values)

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, what stands after ± in tables."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def summarise(values: Sequence[float], seeds: Sequence[int]) -> Summary:
    """The summary of one value per seed."""
    if not values or len(values) != len(seeds):
        raise ValueError(f"a summary needs one value per seed, not {len(values)} values for {len(seeds)} seeds")
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds {list(seeds)} repeat: a seed run twice is not two independent runs; keep one of them")
    several = len(values) > 1
    low, high = t_interval(values) if several else (None, None)
    return Summary(
        seeds=tuple(seeds),
        values=tuple(values),
        mean=float(np.mean(values)),
        deviation=float(np.std(values, ddof=1)) if several else None,
        low=low,
        high=high,
    )


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval of the mean that Student's t distribution gives; it needs at least two values."""
    if len(values) < 2:
        raise ValueError(f"{len(values)} seed has no spread to make an interval from; run at least two seeds")
    mean = float(np.mean(values))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return mean - reach, mean + reach


def depth_loss(steps: int) -> str:
    """The name of the final number that is the loss at so many depth steps."""
    return f"{LOSS}_at_steps_{steps}"


def losses_by_depth(final: Mapping[str, float]) -> dict[int, float]:
    """By number of depth steps: the losses that a run was read with besides its own number."""
    return {int(match[1]): loss for name, loss in final.items() if (match := _AT_STEPS.match(name))}


def summarise_runs(runs: Sequence[RunRecord], metric: str = LOSS) -> Summary:
    """The summary of a metric in `record.final` over runs of one model."""
    for run in runs:
        if metric not in run.final:
            raise ValueError(
                f"{run.model}, seed {run.seed}, has no final number {metric!r}; it has {', '.join(sorted(run.final))}"
            )
    return summarise([run.final[metric] for run in runs], [run.seed for run in runs])


def summarise_group(group: RunGroup, metric: str = LOSS) -> dict[str, Summary]:
    """The summary of every model in a group over the runs that have the metric; models without it are left out."""
    having = {label: [run for run in runs if metric in run.final] for label, runs in group.runs.items()}
    return {label: summarise_runs(runs, metric) for label, runs in having.items() if runs}


def metrics_of(group: RunGroup) -> tuple[str, ...]:
    """Names of the final numbers that any run of a group has."""
    return tuple(sorted({metric for runs in group.runs.values() for run in runs for metric in run.final}))
