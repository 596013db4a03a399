"""The protocol that leads the results: how each model was trained, and what its variants answer."""

from typing import Any

from tipshare.kinds import title_of
from training.results.formatting import count_in_words
from training.results.groups import RunGroup
from training.results.leading import TUNED
from training.results.significance import Comparison, compare
from training.results.summaries import summarise_group
from training.results.views.pairs import corrected, pair_columns
from training.results.views.table import Column, Table, with_values

SHARED = "time-indexed-ssm"
# What is asked, and the two models whose difference answers it.
QUESTIONS: tuple[tuple[str, str, str], ...] = (
    ("gates on t against plain sharing", SHARED, f"{SHARED}, tied"),
    ("one gated block against a block per layer of the same width", SHARED, "own + ssm"),
    ("a state space per layer against the plain transformer", "own + ssm", "standard"),
    ("at equal stored parameters: against a plain transformer", SHARED, "standard, 0.8 M"),
    ("at equal stored parameters: against a state space per layer", SHARED, "own + ssm, 0.8 M"),
)
OPTIMIZERS = {"adam": "Adam", "adamw": "AdamW", "muon": "Muon, AdamW beside it"}


def protocol_in_words(group: RunGroup) -> str:
    """Which recipe the runs are of, on what, and for how long."""
    batch, length = group.settings.get("batch_size"), group.settings.get("length")
    size = f" of {batch} x {length} bytes" if batch and length else ""
    counts = sorted({len(runs) for runs in group.runs.values()})
    seeds = f"{counts[0]} to {counts[-1]} seeds" if len(counts) > 1 else f"{counts[0]} seed{'s' * (counts[0] > 1)}"
    own = ", each with the optimizer and the rates that were found best for it" if group.recipe == TUNED else ""
    return (
        f"Recipe `{group.recipe}`: {group.corpus} as bytes, {group.num_steps:,} training steps{size}, {seeds}, every "
        f"model on the same windows in the same order{own}."
    )


def settings_table(group: RunGroup) -> Table:
    """Optimizer, rates and weight decay of every model."""
    rows: list[dict[str, Any]] = []
    for label, runs in group.runs.items():
        settings = runs[0].settings
        name = settings.get("optimizer")
        beside = settings.get("adam_learning_rate") or settings.get("learning_rate")
        rows.append(
            {
                "model": label,
                **settings,
                "parameters": runs[0].parameters.get("total"),
                "optimizer": OPTIMIZERS.get(str(name), name),
                "beside": beside if name == "muon" else None,
            }
        )
    columns = [
        Column("model", "model", title_of, is_text=True),
        Column("parameters", "parameters", ","),
        Column("optimizer", "optimizer", is_text=True),
        Column("learning_rate", "peak rate", "g"),
        Column("beside", "rate of AdamW beside Muon", "g"),
        Column("schedule", "schedule", is_text=True),
        Column("weight_decay", "weight decay", "g"),
    ]
    return Table(rows, with_values(rows, columns), missing="")


def question_pairs(group: RunGroup) -> dict[str, Comparison]:
    """By question: the paired comparison, with Holm's correction over these questions alone."""
    summaries = summarise_group(group)
    pairs = {
        question: compare(first, second, summaries)
        for question, first, second in QUESTIONS
        if first in summaries and second in summaries
    }
    return corrected(pairs)


def variants_table(group: RunGroup) -> Table:
    """The differences that answer the questions, with sizes, intervals and tests."""
    rows = [
        {"question": question, "pair": pair, "first": _size(group, pair.first), "second": _size(group, pair.second)}
        for question, pair in question_pairs(group).items()
    ]
    columns = [
        Column("question", "question", is_text=True),
        Column("pair.first", "first", title_of, is_text=True),
        Column("first", "parameters", count_in_words),
        Column("pair.second", "second", title_of, is_text=True),
        Column("second", "parameters", count_in_words),
    ]
    return Table(rows, [*columns, *pair_columns("first minus second (nats/byte)")])


def _size(group: RunGroup, label: str) -> int | None:
    return group.runs[label][0].parameters.get("total")
