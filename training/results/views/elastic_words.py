"""What drawn depths cost and give, in sentences computed from records."""

from collections.abc import Mapping, Sequence

from tipshare.kinds import title_of
from training.results.formatting import show_interval
from training.results.groups import collect
from training.results.records import RunRecord
from training.results.significance import Comparison
from training.results.views.elastic import (
    ELASTIC,
    FIXED,
    DepthLosses,
    gains_of_gates,
    losses_at_depths,
    prices,
)


def price_in_words(records: Sequence[RunRecord]) -> str:
    """What drawn depths cost at a model's own number of depth steps; empty if it was not measured."""
    told = [
        f"{title_of(label)} at its own {steps} depth steps {_difference(pair)}"
        for (label, steps), pair in prices(records).items()
    ]
    return f"The price of drawing the depth, drawn minus fixed: {'; '.join(told)}." if told else ""


def reach_in_words(records: Sequence[RunRecord], only: str | None = None) -> str:
    """How far models, or one of them, stray from their own loss within the depths they drew; empty if it was not
    measured.
    """
    fixed, sentences = losses_at_depths(records, FIXED), []
    for label, losses in losses_at_depths(records, ELASTIC).items():
        few, many = min(losses.trained), max(losses.trained)
        apart = _largest(losses, few, many)
        if apart is None or only not in (None, label):
            continue
        sentence = (
            f"Trained at drawn depths, {title_of(label)} is at most {apart:.3f} nats per byte from its loss at "
            f"{losses.own} depth steps at every number that was read from {few} to {many} ({_seeds(losses.num_seeds)})"
        )
        alone = _largest(fixed[label], few, many) if label in fixed else None
        sentence += f"; trained at {fixed[label].own} alone, up to {alone:.3f}" if alone is not None else ""
        sentences.append(f"{sentence}.")
    return " ".join(sentences)


def gates_in_words(records: Sequence[RunRecord]) -> str:
    """What gates on t add to one shared block; empty if it was not measured."""
    by_label = collect(gains_of_gates(records).items(), lambda each: each[0][0])
    return " ".join(_gates_of(label, {steps: pair for (_, steps), pair in found}) for label, found in by_label.items())


def _gates_of(label: str, pairs: Mapping[int, Comparison]) -> str:
    told = ", ".join(f"at {steps} depth steps {_difference(pair)}" for steps, pair in pairs.items())
    significant = [str(steps) for steps, pair in pairs.items() if pair.is_significant]
    if all(pair.paired is None for pair in pairs.values()):
        verdict = "too few seeds for a test"
    else:
        where = f"significant at {' and '.join(significant)}" if significant else "at none of them significant"
        verdict = f"{where}, corrected for these depths"
    return f"{title_of(label)}, gated minus tied: {told}; {verdict}."


def _largest(losses: DepthLosses, few: int, many: int) -> float | None:
    """The largest distance from the loss at the own number, over the depths in between that were read."""
    within = [loss.mean for steps, loss in losses.at.items() if few <= steps <= many and steps != losses.own]
    if losses.own not in losses.at or not within:
        return None
    return max(abs(each - losses.at[losses.own].mean) for each in within)


def _difference(pair: Comparison) -> str:
    interval = f"95 % interval {show_interval(pair.interval)}, " if pair.interval else ""
    return f"{pair.difference:+.3f} ({interval}{_seeds(pair.num_seeds)})"


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count != 1)}"
