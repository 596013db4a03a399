"""Which records the Results tab shows: the bundled ones, with those a visitor uploads, and what was chosen of them."""

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tipshare.checkpoint.locate import bundle_folder
from tipshare.config import KINDS
from training.results.groups import RunGroup, Unit, group_records
from training.results.leading import is_leading
from training.results.records import RunRecord, read_records
from training.results.selection import Selection
from training.results.summaries import summarise_group
from training.results.units import in_unit

RECORDS = "runs.jsonl"
EVERY_CORPUS = ""
# What is added to the label of a run that a visitor uploads.
YOURS = "(yours)"


def all_groups() -> tuple[RunGroup, ...]:
    """Groups of the records beside the bundled checkpoints."""
    return _grouped(*_bundled())


def bundled_records() -> list[RunRecord]:
    """The records beside the bundled checkpoints."""
    path, changed = _bundled()
    return read_records(path) if changed else []


def _bundled() -> tuple[Path, int]:
    """The file of records, and when it changed; 0 if there is none."""
    path = bundle_folder() / RECORDS
    return path, path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache(maxsize=1)  # grouped again when the file changes
def _grouped(path: Path, changed: int) -> tuple[RunGroup, ...]:
    return groups_of(read_records(path) if changed else [])


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


def is_yours(label: str) -> bool:
    """Whether a model is a visitor's own; its label may end in what tells it from others of that name."""
    return YOURS in label


def has_yours(group: RunGroup) -> bool:
    return any(map(is_yours, group.labels))


def default_group(groups: Sequence[RunGroup]) -> RunGroup | None:
    """The group to begin with: the most of the four kinds, then the protocol that README leads with, then most runs."""

    def worth(group: RunGroup) -> tuple[int, bool, int]:
        return sum(kind in group.labels for kind in KINDS), is_leading(group), sum(map(len, group.runs.values()))

    return max(groups, key=worth, default=None)


def default_labels(group: RunGroup) -> list[str]:
    """The models to begin with: the kinds by their own names and a visitor's own; all if no kind is there by name."""
    if not any(label in KINDS for label in group.labels):
        return list(group.labels)
    return [label for label in group.labels if label in KINDS or is_yours(label)]


def choose(
    groups: Sequence[RunGroup], name: str | None, labels: Sequence[str] | None, *, unit: Unit = "nats", **how: Any
) -> Selection:
    """The chosen models of the chosen group; ValueError says what is missing.

    Args:
        labels: Labels of the models; all if None.
        unit: What losses are shown in.
        how: Other fields of the selection: `source`, `curve`, `window`, `against`.
    """
    if not groups:
        raise ValueError(f"there are no records yet: train a recipe, or upload a {RECORDS}")
    groups = [in_unit(each, unit) for each in groups]
    group = next((each for each in groups if each.name == name), None)
    if group is None:
        raise ValueError(f"no runs are called {name!r:.200}; there are {', '.join(each.name for each in groups)}")
    wanted = group.labels if labels is None else [label for label in group.labels if label in labels]
    if not wanted:
        raise ValueError("no model is chosen: choose at least one above")
    if set(wanted) != set(group.labels):
        group = dataclasses.replace(group, runs={label: group.runs[label] for label in wanted})
    return Selection(group=group, others=tuple(groups), **how)
