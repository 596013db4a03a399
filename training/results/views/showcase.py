"""The runs behind the bundled checkpoints, and the search for their learning rates."""

import re
from collections.abc import Sequence

from tipshare.kinds import rank_of, title_of
from training.results.groups import by_kind
from training.results.records import RunRecord
from training.results.views.table import Column, Table, make_table

RECIPE = "showcase"
# The search is the recipe with another learning rate and fewer steps, nothing else.
SEARCH = re.compile(rf"{RECIPE}\+learning_rate=[^+]+\+num_steps=\d+\+warmup_steps=\d+")
DEPTHS = (3, 4, 6, 8, 12)
WHOLE = "valid_loss_full"


def showcase_table(records: Sequence[RunRecord]) -> Table:
    """Loss of every kind on the whole validation and test text, with its size and learning rate."""
    columns: list[Column[RunRecord]] = [
        Column("model", lambda run: run.model, title_of, is_text=True),
        Column("parameters", lambda run: run.parameters["total"], ","),
        Column("learning rate", lambda run: run.settings["learning_rate"], "g"),
        Column("valid (nats/byte)", lambda run: run.final.get(WHOLE), ".4f"),
        Column("test (nats/byte)", lambda run: run.final.get("test_loss_full"), ".4f"),
        Column("test (bits/byte)", lambda run: run.final.get("test_bits_per_byte"), ".3f"),
    ]
    return make_table(columns, _runs(records))


def showcase_in_words(records: Sequence[RunRecord]) -> str:
    """What the kinds reach on the whole validation text, from the lowest loss on, and at what size."""
    ranked = sorted((run for run in _runs(records) if WHOLE in run.final), key=lambda run: run.final[WHOLE])
    if not ranked:
        return "Not trained yet."
    parts = [f"{title_of(run.model)} {run.final[WHOLE]:.3f} ({run.parameters['total'] / 1e6:.2f} M)" for run in ranked]
    return (
        f"After {ranked[0].tokens_seen / 1e6:.1f} million bytes, nats per byte on the whole validation text and "
        f"parameters, from the lowest loss on: {', '.join(parts)}. One seed each, and so without a test."
    )


def depth_table(records: Sequence[RunRecord]) -> Table:
    """Loss of the kinds whose weights are defined at every t, by the number of depth steps they are read with."""
    names = {steps: f"valid_loss_at_steps_{steps}" for steps in DEPTHS}
    columns: list[Column[RunRecord]] = [
        Column("depth steps", lambda run: run.model, title_of, is_text=True),
        *(Column(str(steps), lambda run, name=name: run.final[name], ".3f") for steps, name in names.items()),
    ]
    return make_table(columns, [run for run in _runs(records) if set(names.values()) <= set(run.final)])


def search_table(records: Sequence[RunRecord]) -> Table:
    """Loss after a short run, kinds by learning rates, with the best rate of every kind."""
    losses: dict[str, dict[float, float]] = {}
    for run in records:
        if SEARCH.fullmatch(run.recipe):
            losses.setdefault(run.kind, {})[run.settings["learning_rate"]] = run.final["valid_loss"]

    def at_rate(rate: float) -> Column[str]:
        def is_best(kind: str) -> bool:
            return losses[kind].get(rate) == min(losses[kind].values())

        return Column(f"{rate:g}", lambda kind: losses[kind].get(rate), ".3f", is_best=is_best)

    rates = sorted({rate for each in losses.values() for rate in each})
    first: Column[str] = Column("learning rate", lambda kind: kind, title_of, is_text=True)
    return make_table([first, *map(at_rate, rates)], sorted(losses, key=rank_of), missing="")


def _runs(records: Sequence[RunRecord]) -> list[RunRecord]:
    return by_kind(each for each in records if each.recipe == RECIPE)
