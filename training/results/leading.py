"""Which protocol the results begin with: the tuned one as soon as its runs can be compared, else the published one."""

from collections.abc import Sequence
from dataclasses import replace

from training.results.groups import RunGroup, choose_group, find_group
from training.results.records import RunRecord
from training.results.rows import BASELINE

TUNED, PUBLISHED = "tuned-1000", "published-1000"
FEWEST_SEEDS = 2
# What the labels of runs in a published shape end in; there are two such shapes.
ANY_SHAPE = " shape"


def usual_runs(records: Sequence[RunRecord]) -> list[RunRecord]:
    """All runs but those in the published shapes, which have a table of their own."""
    return [each for each in records if not each.model.endswith(ANY_SHAPE)]


def leading_group(records: Sequence[RunRecord]) -> RunGroup:
    """The usual runs of the protocol that the results begin with.

    That is the tuned one once it has a plain transformer and another kind with two seeds in common: fewer allow no
    test.
    """
    tuned = find_group(usual_runs(records), TUNED)
    return tuned if tuned and is_leading(tuned) else published_group(records)


def published_group(records: Sequence[RunRecord]) -> RunGroup:
    """The usual runs of the published protocol."""
    return choose_group(usual_runs(records), PUBLISHED)


def kinds_alone(group: RunGroup) -> RunGroup:
    """The runs of the kinds by their own names, without variants of them."""
    return replace(group, runs={label: runs for label, runs in group.runs.items() if label == group.kind_of(label)})


def is_leading(group: RunGroup) -> bool:
    """Whether these are runs of the tuned protocol that can be compared."""
    seeds = {label: {run.seed for run in runs} for label, runs in kinds_alone(group).runs.items()}
    plain = seeds.pop(BASELINE, set())
    return group.name == TUNED and any(len(plain & each) >= FEWEST_SEEDS for each in seeds.values())
