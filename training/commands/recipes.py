"""`python -m training recipes`: the recipes, what a run costs and the loss to expect."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tipshare.checkpoint.locate import bundle_folder
from training.recipes.library import RECIPES
from training.results.groups import collect
from training.results.records import RunRecord, known_records
from training.results.summaries import LOSS


@dataclass(frozen=True, kw_only=True)
class Recipes:
    """List the recipes with their cost and the loss to expect, both from the bundled records where there are any."""

    def run(self) -> int:
        records = known_records(bundle_folder() / "runs.jsonl")
        for recipe in RECIPES.values():
            windows = recipe.batch_size * recipe.accumulate
            measured = [
                record for record in records if record.recipe == recipe.name and record.num_steps == recipe.num_steps
            ]
            print(f"{recipe.name}\n    {recipe.summary}")
            print(f"    {recipe.corpus}, {recipe.num_steps:,} steps of {windows} x {recipe.length} bytes")
            print(f"    cost: {describe_cost(measured) or recipe.cost}")
            print(f"    expected: {describe_scores(measured) or recipe.expected}")
            if recipe.variants:
                print("    models: " + "; ".join(recipe.variants))
        return 0


def describe_cost(records: Sequence[RunRecord]) -> str:
    """Minutes that the training steps of a run took; empty if no record has step times."""
    minutes = [each.speed["step_ms"] * each.num_steps / 60_000 for each in records if "step_ms" in each.speed]
    if not minutes:
        return ""
    devices = ", ".join(sorted({each.machine.get("device", "an unnamed device") for each in records}))
    ends = dict.fromkeys(f"{end:.0f}" for end in (min(minutes), max(minutes)))
    return f"{' to '.join(ends)} minutes of steps per run, measured on {devices}"


def describe_scores(records: Sequence[RunRecord]) -> str:
    """Mean validation loss of every model over its seeds, best first; empty without records."""
    by_model = collect((each for each in records if LOSS in each.final), lambda record: record.model)
    means = sorted(
        (statistics.fmean(run.final[LOSS] for run in runs), model, len(runs)) for model, runs in by_model.items()
    )
    scores = ", ".join(
        f"{mean:.3f} ({model}, {count} {'seed' if count == 1 else 'seeds'})" for mean, model, count in means
    )
    return f"valid loss {scores} nats per byte" if scores else ""
