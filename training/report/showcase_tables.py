"""The runs behind the bundled checkpoints, and the search for their learning rates, as tables and in words."""

import re
from collections.abc import Sequence

from tipshare.kinds import rank_of, title_of
from training.report.markdown import markdown_table
from training.results.groups import by_kind
from training.results.records import RunRecord

RECIPE = "showcase"
# The search is the recipe with another learning rate and fewer steps, nothing else.
SEARCH = re.compile(rf"{RECIPE}\+learning_rate=[^+]+\+num_steps=\d+\+warmup_steps=\d+")
DEPTHS = (3, 4, 6, 8, 12)
WHOLE = "valid_loss_full"


def showcase_table(records: Sequence[RunRecord]) -> str:
    """Loss of every kind on the whole validation and test text, with its size and learning rate."""
    runs = by_kind([each for each in records if each.recipe == RECIPE])
    heads = ("model", "parameters", "learning rate", "valid (nats/byte)", "test (nats/byte)", "test (bits/byte)")
    rows = [
        (
            title_of(run.model),
            f"{run.parameters['total']:,}",
            f"{run.settings['learning_rate']:g}",
            *(
                _number(run.final.get(name), decimals)
                for name, decimals in ((WHOLE, 4), ("test_loss_full", 4), ("test_bits_per_byte", 3))
            ),
        )
        for run in runs
    ]
    return markdown_table(heads, rows)


def showcase_in_words(records: Sequence[RunRecord]) -> str:
    """What the kinds reach on the whole validation text, from the lowest loss on, and at what size."""
    runs = [each for each in records if each.recipe == RECIPE and WHOLE in each.final]
    if not runs:
        return "Not trained yet."
    ranked = sorted(runs, key=lambda run: run.final[WHOLE])
    parts = [f"{title_of(run.model)} {run.final[WHOLE]:.3f} ({run.parameters['total'] / 1e6:.2f} M)" for run in ranked]
    return (
        f"After {ranked[0].tokens_seen / 1e6:.1f} million bytes, nats per byte on the whole validation text and "
        f"parameters, from the lowest loss on: {', '.join(parts)}. One seed each, and so without a test."
    )


def depth_table(records: Sequence[RunRecord]) -> str:
    """Loss of the kinds whose weights are defined at every t, by the number of depth steps they are read with."""
    runs = by_kind([each for each in records if each.recipe == RECIPE])
    names = [f"valid_loss_at_steps_{steps}" for steps in DEPTHS]
    rows = [
        (title_of(run.model), *(_number(run.final[name], 3) for name in names))
        for run in runs
        if all(name in run.final for name in names)
    ]
    return markdown_table(("depth steps", *map(str, DEPTHS)), rows)


def search_table(records: Sequence[RunRecord]) -> str:
    """Loss after a short run, kinds by learning rates; the lowest of every kind is bold."""
    found = [each for each in records if SEARCH.fullmatch(each.recipe)]
    rates = sorted({run.settings["learning_rate"] for run in found})
    rows = []
    for kind in sorted({run.kind for run in found}, key=rank_of):
        losses = {run.settings["learning_rate"]: run.final["valid_loss"] for run in found if run.kind == kind}
        best = min(losses, key=lambda rate: losses[rate])
        cells = [_number(losses.get(rate), 3) for rate in rates]
        rows.append(
            (
                title_of(kind),
                *(f"**{cell}**" if rate == best else cell for rate, cell in zip(rates, cells, strict=True)),
            )
        )
    return markdown_table(("learning rate", *(f"{rate:g}" for rate in rates)), rows)


def _number(value: float | None, decimals: int) -> str:
    return "" if value is None else f"{value:.{decimals}f}"
