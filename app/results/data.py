"""Which records the Results tab shows: the bundled ones, those a visitor brings, and what was chosen of them."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from tipshare.checkpoint.locate import bundle_folder
from tipshare.config import KINDS
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord, read_records
from training.results.rows import ResultRow, result_rows
from training.results.summaries import summarise_group

RECORDS = "runs.jsonl"
EVERY_CORPUS = ""
# What is added to the label of a run that a visitor brought.
YOURS = "(yours)"

Source = Literal["measured", "published", "both"]


@dataclass(frozen=True)
class Choice:
    """What a visitor looks at.

    Attributes:
        group: The runs of the chosen recipe, of the chosen models alone.
        everything: All groups, for figures that the chosen recipe has no data for.
        source: Measured here, published, or both.
    """

    group: RunGroup
    everything: tuple[RunGroup, ...]
    source: Source

    def rows(self) -> list[ResultRow]:
        """The rows of the chosen group."""
        return rows_of(self.group, self.source)

    def group_with(self, count: Callable[[RunGroup], int]) -> RunGroup | None:
        """The chosen runs if they have any of what is counted, else the runs with the most of it; None without any."""
        if count(self.group):
            return self.group
        richest = max(self.everything, key=count, default=None)
        return richest if richest is not None and count(richest) else None


def all_groups(brought: Sequence[str] = ()) -> tuple[RunGroup, ...]:
    """Groups of the records beside the bundled checkpoints and of those a visitor brought, as JSON lines."""
    path = bundle_folder() / RECORDS
    changed = path.stat().st_mtime_ns if path.is_file() else 0
    return _grouped(path, changed, tuple(brought))


@lru_cache(maxsize=8)  # grouped again when the file changes, or when a visitor brings others
def _grouped(path: Path, changed: int, brought: tuple[str, ...]) -> tuple[RunGroup, ...]:
    bundled = read_records(path) if changed else []
    return groups_of([*bundled, *map(RunRecord.from_json, brought)])


def mark_as_yours(records: Sequence[RunRecord]) -> list[RunRecord]:
    """A visitor's records under labels of their own, so that they stand beside ours and never replace them."""
    return [
        dataclasses.replace(each, model=f"{each.model} {YOURS}", settings={**each.settings, "source": "yours"})
        for each in records
    ]


def groups_of(records: Sequence[RunRecord]) -> tuple[RunGroup, ...]:
    """Groups that have a loss to show."""
    return tuple(each for each in group_records(records) if summarise_group(each))


def corpora(groups: Sequence[RunGroup]) -> list[str]:
    return sorted({each.corpus for each in groups})


def fitting(groups: Sequence[RunGroup], corpus: str) -> list[RunGroup]:
    """The groups of a corpus, or all."""
    return [each for each in groups if corpus in (EVERY_CORPUS, each.corpus)]


def default_group(groups: Sequence[RunGroup]) -> RunGroup | None:
    """The group to begin with: the most of the four kinds, then the most runs."""

    def worth(group: RunGroup) -> tuple[int, int]:
        return sum(kind in group.labels for kind in KINDS), sum(map(len, group.runs.values()))

    return max(groups, key=worth, default=None)


def default_labels(group: RunGroup) -> list[str]:
    """The models to begin with: the kinds by their own names and what a visitor brought, or all if there is neither."""
    return [label for label in group.labels if label in KINDS or label.endswith(YOURS)] or list(group.labels)


def choose(
    groups: Sequence[RunGroup], name: str | None, labels: Sequence[str] | None, source: Source = "measured"
) -> Choice:
    """The chosen models of the chosen group; ValueError says what is missing."""
    if not groups:
        raise ValueError(f"there are no records yet: train a recipe, or upload a {RECORDS}")
    group = next((each for each in groups if each.name == name), None)
    if group is None:
        raise ValueError(f"no runs are called {name!r}; there are {', '.join(each.name for each in groups)}")
    wanted = group.labels if labels is None else [label for label in group.labels if label in labels]
    if not wanted:
        raise ValueError("no model is chosen: choose at least one above")
    if set(wanted) != set(group.labels):
        group = dataclasses.replace(group, runs={label: group.runs[label] for label in wanted})
    return Choice(group, tuple(groups), source)


def rows_of(group: RunGroup, source: Source) -> list[ResultRow]:
    """Measured rows, then the published ones of the kinds that are among them."""
    kinds = {group.kind_of(label) for label in group.labels}
    return [row for row in result_rows(group, source=source) if row.source == "measured" or row.kind in kinds]
