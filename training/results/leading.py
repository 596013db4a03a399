"""Which protocol the results begin with: the tuned one as soon as its runs can be compared, else the published one."""

from collections.abc import Sequence
from dataclasses import replace

from training.results.groups import RunGroup, choose_group, group_records
from training.results.records import RunRecord
from training.results.rows import BASELINE

TUNED, PUBLISHED = "tuned-1000", "published-1000"
FEWEST_SEEDS = 2


def leading_group(records: Sequence[RunRecord]) -> RunGroup:
    """The runs of the protocol that the results begin with.

    That is the tuned one once it has a plain transformer and another kind with two seeds in common: fewer allow no
    test.
    """
    tuned = next((each for each in group_records(records) if each.name == TUNED), None)
    return tuned if tuned and _can_be_compared(tuned) else choose_group(records, recipe=PUBLISHED)


def kinds_alone(group: RunGroup) -> RunGroup:
    """The runs of the kinds by their own names, without variants of them."""
    return replace(group, runs={label: runs for label, runs in group.runs.items() if label == group.kind_of(label)})


def _can_be_compared(group: RunGroup) -> bool:
    seeds = {label: {run.seed for run in runs} for label, runs in kinds_alone(group).runs.items()}
    plain = seeds.pop(BASELINE, set())
    return any(len(plain & each) >= FEWEST_SEEDS for each in seeds.values())
