"""Differences between two models by seed, as rows of a table that is corrected as a whole."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from training.results.formatting import show_interval, show_p
from training.results.significance import Comparison, compare, holm
from training.results.summaries import Summary
from training.results.views.table import Column, Table

Asked = TypeVar("Asked", bound=Hashable)


def compare_two(first: Summary, second: Summary) -> Comparison:
    """All tests of one difference, before correction; what the two are is known to who asks."""
    return compare("first", "second", {"first": first, "second": second})


def compare_all(asked: Mapping[Asked, tuple[Summary, Summary]]) -> dict[Asked, Comparison]:
    """A comparison for everything that is asked, with Holm's correction over these alone."""
    return corrected({each: compare_two(*two) for each, two in asked.items()})


def corrected(pairs: Mapping[Asked, Comparison]) -> dict[Asked, Comparison]:
    """The comparisons with Holm's correction over these alone."""
    p_values = holm([pair.p_value for pair in pairs.values()])
    return {asked: replace(pair, p_holm=p) for (asked, pair), p in zip(pairs.items(), p_values, strict=True)}


def pairs_table(
    pairs: Mapping[tuple[Any, ...], Comparison], asked: Sequence[Column], heading: str = "difference (nats/byte)"
) -> Table:
    """A comparison per row: what is asked, one column for every part of it, and the answer."""
    names = [column.path for column in asked]
    rows = [{**dict(zip(names, each, strict=True)), "pair": pair} for each, pair in pairs.items()]
    return Table(rows, [*asked, *pair_columns(heading)])


def pair_columns(heading: str) -> list[Column]:
    """The columns of a comparison that a row holds under the key `pair`."""
    return [
        Column("pair.difference", heading, "+.3f"),
        Column("pair.interval", "95 % interval", show_interval),
        Column("pair.num_seeds", "seeds"),
        Column("pair.p_value", "p", show_p),
        Column("pair.p_holm", "p, corrected", show_p),
    ]
