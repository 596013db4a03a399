"""What was tried for the tuned protocols, kept or not, beside the same runs without the change."""

from collections.abc import Callable, Sequence
from typing import Any

from tipshare.kinds import rank_of, title_of
from training.results.formatting import count_in_words, show_mean
from training.results.groups import collect
from training.results.records import RunRecord
from training.results.summaries import Summary, summarise
from training.results.trials import Trial, trials_of, unchanged
from training.results.views.elastic import ELASTIC, FIXED
from training.results.views.equal_time import CHANGES
from training.results.views.pairs import compare_two, corrected, pair_columns
from training.results.views.table import Column, Table

FAR_DEPTHS = (3, 12)


def trials_table(records: Sequence[RunRecord]) -> Table:
    """A run per row, with the fields that it changed and the loss without the change; the lowest loss of every model
    under every protocol is marked.
    """
    known = trials_of(each for each in records if each.recipe.partition("+")[0] in (FIXED, ELASTIC))
    tried = [each for each in known if not {name.partition("=")[0] for name in each.changes} <= CHANGES]
    tried.sort(key=lambda each: (rank_of(each.kind), each.model, each.protocol))
    rows = [
        {
            "trial": each,
            "changes": ", ".join(each.changes),
            "unchanged": unchanged(each, known),
            **{f"at {steps}": each.losses.get(steps) for steps in FAR_DEPTHS},
        }
        for each in tried
    ]
    best: dict[tuple[str, str], float] = {}
    for each in [*tried, *(base for trial in tried if (base := unchanged(trial, known)))]:
        key = (each.model, each.protocol)
        best[key] = min(best.get(key, each.loss), each.loss)

    def is_best(side: str) -> Callable[[dict[str, Any]], bool]:
        return lambda row: bool(row[side]) and row[side].loss == best[row[side].model, row[side].protocol]

    columns = [
        Column("trial.model", "model", title_of, is_text=True),
        Column("trial.protocol", "protocol", is_text=True),
        Column("changes", "changed", is_text=True),
        Column("trial.seed", "seed"),
        Column("trial.parameters", "parameters", count_in_words),
        Column("trial.loss", "loss", ".3f", is_best=is_best("trial")),
        Column("unchanged.loss", "unchanged", ".3f", is_best=is_best("unchanged")),
        *(Column(f"at {steps}", f"at {steps} depth steps", ".3f") for steps in FAR_DEPTHS),
    ]
    return Table(rows, columns, missing="")


def dropped_table(records: Sequence[RunRecord], dropped: Sequence[Trial]) -> Table:
    """Changes that were not kept: a change per row, minus the same runs without it, by seed."""
    known = [*trials_of(each for each in records if each.recipe in (FIXED, ELASTIC)), *dropped]
    changed = [each for each in dropped if each.changes or each.about]
    groups = collect(changed, lambda each: (each.model, each.recipe, each.about))
    rows = {key: _row(trials, known) for key, trials in groups.items()}
    pairs = corrected({key: row["pair"] for key, row in rows.items() if row["pair"]})
    columns = [
        Column("about", "change", is_text=True),
        Column("model", "model", title_of, is_text=True),
        Column("protocol", "protocol", is_text=True),
        Column("parameters", "parameters", count_in_words),
        Column("loss", "loss (nats/byte)", show_mean),
        *pair_columns("changed minus unchanged"),
        *(Column(f"at {steps}", f"the same at {steps} depth steps", "+.3f") for steps in FAR_DEPTHS),
    ]
    return Table([{**row, "pair": pairs.get(key)} for key, row in rows.items()], columns)


def _row(trials: Sequence[Trial], known: Sequence[Trial]) -> dict[str, Any]:
    """One change over its seeds; differences are over the seeds that were also run without it."""
    first = trials[0]
    both = [(each, base) for each in trials if (base := unchanged(each, known))]
    apart = {steps: _differences(both, steps) for steps in FAR_DEPTHS}
    return {
        "about": first.about or ", ".join(first.changes),
        "model": first.model,
        "protocol": first.protocol,
        "parameters": first.parameters,
        "loss": _losses(trials),
        "pair": compare_two(*(_losses(side) for side in zip(*both, strict=True))) if both else None,
        **{f"at {steps}": sum(found) / len(found) for steps, found in apart.items() if found},
    }


def _losses(trials: Sequence[Trial]) -> Summary:
    return summarise([each.loss for each in trials], [each.seed for each in trials])


def _differences(both: Sequence[tuple[Trial, Trial]], steps: int) -> list[float]:
    return [each.losses[steps] - base.losses[steps] for each, base in both if steps in each.losses.keys() & base.losses]
