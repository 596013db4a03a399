"""Fine-tuning: what each method trains, gains and forgets, for the documents."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tipshare.kinds import title_of
from training.results.formatting import count_in_words
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord
from training.results.rows import step_memory
from training.results.views.table import Column, Table, with_values

AFTER, BEFORE, BASE = "valid_loss", "valid_loss_before", "valid_loss_of_base"
FORGOTTEN, FORGOTTEN_BEFORE = "first_text_loss", "first_text_loss_before"
# Names of the recipe of runs between two texts with no setting changed.
PREFIX = "finetune-"


@dataclass(frozen=True)
class Tuned:
    """The runs of one model of a group: means over the seeds."""

    runs: tuple[RunRecord, ...]

    def mean(self, name: str) -> float | None:
        """A final number; None if a run has none."""
        values = [run.final.get(name) for run in self.runs]
        return None if None in values else statistics.fmean(each for each in values if each is not None)

    def _difference(self, left: str, right: str) -> float | None:
        found = self.mean(left), self.mean(right)
        return None if found[0] is None or found[1] is None else found[0] - found[1]

    @property
    def title(self) -> str:
        return title_of(self.runs[0].model)

    @property
    def trained(self) -> int:
        return self.runs[0].parameters["trained"]

    @property
    def at_own_depth(self) -> bool:
        """Whether the run has as many depth steps as its checkpoint."""
        return self.mean(BASE) is None

    @property
    def base(self) -> float | None:
        """The loss of the checkpoint at its own depth."""
        return self.mean(BEFORE) if self.at_own_depth else self.mean(BASE)

    @property
    def before(self) -> float | None:
        return self.mean(BEFORE)

    @property
    def after(self) -> float | None:
        return self.mean(AFTER)

    @property
    def gain(self) -> float | None:
        return self._difference(BEFORE, AFTER)

    @property
    def given_back(self) -> float | None:
        """On the same text: the share of what another depth cost that fine-tuning gives back."""
        cost, gain = self._difference(BEFORE, BASE), self.gain
        return (
            gain / cost
            if _is_same_text(self.runs[0].settings) and gain is not None and cost is not None and cost > 0
            else None
        )

    @property
    def forgotten(self) -> float | None:
        """By how much the loss on the first text rises."""
        return self._difference(FORGOTTEN, FORGOTTEN_BEFORE)

    @property
    def step_ms(self) -> float | None:
        times = [run.speed["step_ms"] for run in self.runs if "step_ms" in run.speed]
        return statistics.median(times) if times else None

    @property
    def memory(self) -> float | None:
        return step_memory(self.runs[0])


def tuned_groups(records: Sequence[RunRecord]) -> Iterator[tuple[RunGroup, list[Tuned]]]:
    """The groups of runs between two texts, and the models of each."""
    of_grid = [each for each in records if each.recipe.startswith(PREFIX) and "+" not in each.recipe]
    for group in group_records(of_grid):
        yield group, [Tuned(runs) for runs in group.runs.values() if all("trained" in run.parameters for run in runs)]


def is_same_text(group: RunGroup) -> bool:
    """Whether the runs of a group go on with the text of their checkpoints."""
    return _is_same_text(group.settings)


def _is_same_text(settings: Mapping[str, Any]) -> bool:
    return settings.get("base_corpus") == settings.get("corpus")


def tuned_table(models: Sequence[Tuned]) -> Table:
    """What each model of a group trained, cost, gained and forgot."""
    columns = [
        Column("title", "fine-tuned", is_text=True),
        Column("trained", "trained", count_in_words),
        Column("memory", "memory of a step (MB)", ",.0f"),
        Column("step_ms", "ms/step", ",.0f"),
        Column("base", "checkpoint at its own depth", ".3f"),
        Column("before", "before", ".3f"),
        Column("after", "after", ".3f"),
        Column("given_back", "given back", "{:.0%}".format),
        Column("forgotten", "first text", "+.3f"),
        Column("runs", "seeds", lambda runs: str(len(runs))),
    ]
    return Table(models, with_values(models, columns))


def gains_in_words(models: Sequence[Tuned]) -> str:
    """For every kind at its own depth: how much of the gain of full fine-tuning the other methods reach."""
    sentences = []
    for full in models:
        kind, method = full.runs[0].kind, full.runs[0].settings["method"]
        if method != "full" or not full.at_own_depth or not full.gain or full.gain <= 0:
            continue
        others = [each for each in models if each.runs[0].kind == kind and each.at_own_depth and each is not full]
        shares = [
            f"{_method(each)} {each.gain / full.gain:.0%} ({count_in_words(each.trained)})"
            for each in sorted(others, key=lambda each: each.trained)
            if each.gain is not None
        ]
        if shares:
            sentences.append(
                f"- **{title_of(kind)}**: training all {count_in_words(full.trained)} lowers the loss by "
                f"{full.gain:.3f}; of that, {', '.join(shares)}.{_forgetting([full, *others])}"
            )
    return "\n".join(sentences)


def depth_in_words(models: Sequence[Tuned]) -> str:
    """What fine-tuning gives back of the cost of another depth, on the same text."""
    parts = [
        f"- **{each.title}**: {each.base:.3f} at the depth of the checkpoint, {each.before:.3f} before and "
        f"{each.after:.3f} after {each.runs[0].num_steps} steps: {each.given_back:.0%} of the cost given back "
        f"({len(each.runs)} {'seed' if len(each.runs) == 1 else 'seeds'})."
        for each in models
        if each.given_back is not None
    ]
    return "\n".join(parts)


def _method(model: Tuned) -> str:
    settings: dict[str, Any] = model.runs[0].settings
    return f"LoRA of rank {settings['rank']}" if settings["method"] == "lora" else f"{settings['method']}"


def _forgetting(models: Sequence[Tuned]) -> str:
    known = [each for each in models if each.forgotten is not None]
    if len(known) < 2:
        return ""
    least, most = (choose(known, key=lambda each: each.forgotten or 0.0) for choose in (min, max))
    return (
        f" The loss on the first text rises least with {_method(least)} ({least.forgotten:+.3f}) and most with "
        f"{_method(most)} ({most.forgotten:+.3f})."
    )
