"""Losses in nats or in bits per byte: one unit for all that is shown together."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import get_args

from training.results.groups import RunGroup, Unit, once_per_group
from training.results.records import RunRecord

# What one nat is in the unit.
SIZES: Mapping[Unit, float] = {"nats": 1.0, "bits": 1 / math.log(2)}


def in_unit(group: RunGroup, unit: Unit) -> RunGroup:
    """The group with all losses of its runs in another unit; records hold nats."""
    if unit not in get_args(Unit):
        raise ValueError(f"unit={unit!r:.80} is not one of {', '.join(get_args(Unit))}")
    # The group itself is not kept: it would never end.
    return group if unit == group.unit else _converted(group, unit)


@once_per_group
def _converted(group: RunGroup, unit: Unit) -> RunGroup:
    factor = SIZES[unit] / SIZES[group.unit]
    runs = {label: tuple(_scaled(run, factor) for run in each) for label, each in group.runs.items()}
    return dataclasses.replace(group, runs=runs, unit=unit)


def _scaled(run: RunRecord, factor: float) -> RunRecord:
    def scale(curve: Sequence[Sequence[float]]) -> list[list[float]]:
        return [[step, loss * factor] for step, loss in curve]

    final = {name: value * factor if "loss" in name else value for name, value in run.final.items()}
    return dataclasses.replace(run, final=final, curve=scale(run.curve), train_curve=scale(run.train_curve))
