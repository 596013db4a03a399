"""Differences between two models by seed, as rows of a table that is corrected as a whole."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TypeVar

from training.results.formatting import show_interval, show_p
from training.results.significance import Comparison, holm
from training.results.views.table import Column

Asked = TypeVar("Asked", bound=Hashable)


def corrected(pairs: Mapping[Asked, Comparison]) -> dict[Asked, Comparison]:
    """The comparisons with Holm's correction over these alone."""
    p_values = holm([pair.p_value for pair in pairs.values()])
    return {asked: replace(pair, p_holm=p) for (asked, pair), p in zip(pairs.items(), p_values, strict=True)}


def pair_columns(heading: str = "difference (nats/byte)") -> list[Column]:
    """The columns of a comparison that a row holds under the key `pair`."""
    return [
        Column("pair.difference", heading, "+.3f"),
        Column("pair.interval", "95 % interval", show_interval),
        Column("pair.num_seeds", "seeds"),
        Column("pair.p_value", "p", show_p),
        Column("pair.p_holm", "p, corrected", show_p),
    ]
