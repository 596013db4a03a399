"""Which runs may share a table: the same recipe, the same data and the same budget."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from hashlib import sha256
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

from tipshare.config import ModelConfig
from tipshare.kinds import rank_of
from training.recipes.recipe import slug
from training.results.records import RunRecord
from training.results.shared_runs import with_shared_runs

# Recipe, corpus, training steps, tokens seen, digest of the data.
Key = tuple[str, str, int, int, str]
Result = TypeVar("Result")
Item = TypeVar("Item")
Shared = TypeVar("Shared")
# What losses are counted in, per byte.
Unit = Literal["nats", "bits"]


@dataclass(frozen=True, eq=False)
class RunGroup:
    """Runs that differ in the model and the seed alone, so that their numbers may be compared.

    A group equals only itself, so that what was computed from it can be kept.

    Attributes:
        name: Name of the group in files and headings: the recipe, and what tells it from other groups of that recipe.
        runs: The runs of every model, by the model's label; each model's runs are sorted by seed.
        unit: Of the losses of the runs.
    """

    name: str
    recipe: str
    corpus: str
    num_steps: int
    tokens_seen: int
    runs: dict[str, tuple[RunRecord, ...]]
    unit: Unit = "nats"

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.runs)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that the runs used; step times of different devices cannot be compared."""
        return devices_of(run for runs in self.runs.values() for run in runs)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the first run; those of other models may differ in what a recipe sets by model."""
        return next(iter(self.runs.values()))[0].settings

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(runs[0].kind for runs in self.runs.values())

    def kind_of(self, label: str) -> str:
        return self.runs[label][0].kind

    @cached_property
    def configs(self) -> dict[str, ModelConfig]:
        return {label: ModelConfig.from_dict(runs[0].config) for label, runs in self.runs.items()}

    def config_of(self, label: str) -> ModelConfig:
        return self.configs[label]


def once_per_group(work: Callable[..., Result]) -> Callable[..., Result]:
    """Keep what a function of a group found for as long as the group is kept, and no longer."""
    kept: WeakKeyDictionary[RunGroup, dict[tuple[Any, ...], Result]] = WeakKeyDictionary()

    @wraps(work)
    def found(group: RunGroup, *arguments: Any) -> Result:
        known = kept.setdefault(group, {})
        if arguments not in known:
            known[arguments] = work(group, *arguments)
        return known[arguments]

    return found


def group_records(records: Iterable[RunRecord]) -> list[RunGroup]:
    """All groups in the records, in the order of their first run.

    A run that was repeated counts once; one that is part of an ablation as well is in both groups.
    """
    by_key = collect({each.id: each for each in with_shared_runs(records)}.values(), _key)
    names = _names(list(by_key))
    return [RunGroup(names[key], *key[:4], _by_label(members)) for key, members in by_key.items()]


def collect(items: Iterable[Item], key: Callable[[Item], Shared]) -> dict[Shared, list[Item]]:
    """Items by what they have in common, in the order in which they come."""
    collected: dict[Shared, list[Item]] = {}
    for item in items:
        collected.setdefault(key(item), []).append(item)
    return collected


def find_group(records: Iterable[RunRecord], name: str) -> RunGroup | None:
    """The group of that name, if there is one."""
    return next((each for each in group_records(records) if each.name == name), None)


def choose_group(records: Iterable[RunRecord], recipe: str) -> RunGroup:
    """The one group of a recipe, or of that name itself, or an error that lists the groups there are."""
    groups = group_records(records)
    if not groups:
        raise ValueError("there are no records: train a recipe first, or check the path of the records")
    fitting = [each for each in groups if each.name == recipe] or [each for each in groups if each.recipe == recipe]
    if not fitting:
        raise ValueError(f"no run of recipe={recipe!r}; the records hold {', '.join(each.name for each in groups)}")
    if len(fitting) > 1:
        raise ValueError(
            f"recipe={recipe!r} fits {len(fitting)} groups of runs, and their numbers cannot share a table; "
            f"choose one as recipe: {', '.join(each.name for each in fitting)}"
        )
    return fitting[0]


def devices_of(runs: Iterable[RunRecord]) -> tuple[str, ...]:
    """The devices that runs used, each once."""
    return tuple(sorted({run.machine.get("device", "unknown device") for run in runs}))


def by_kind(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Runs in the order of their kinds, as every table has them."""
    return sorted(runs, key=lambda run: rank_of(run.kind))


def _key(record: RunRecord) -> Key:
    corpus = str(record.settings.get("corpus", "unknown corpus"))
    digest = sha256(json.dumps(record.data, sort_keys=True).encode()).hexdigest()[:6]
    return record.recipe, corpus, record.num_steps, record.tokens_seen, digest


def _names(keys: list[Key]) -> dict[Key, str]:
    """The shortest name of every group that no other group has."""

    def spelled(key: Key, parts: int) -> str:
        recipe, corpus, num_steps, tokens_seen, digest = key
        words = (recipe, corpus, f"{num_steps}-steps", f"{tokens_seen}-tokens", digest)
        return slug("-".join(words[:parts])) or "runs"

    names: dict[Key, str] = {}
    for key in keys:
        for parts in range(1, 6):
            names[key] = spelled(key, parts)
            if sum(spelled(other, parts) == names[key] for other in keys) == 1:
                break
    return names


def _by_label(records: list[RunRecord]) -> dict[str, tuple[RunRecord, ...]]:
    """Runs by label, the four kinds first; one label on two different models is spelled out."""
    runs: dict[str, list[RunRecord]] = {}
    for label, members in collect(records, lambda each: each.model).items():
        variants = list(collect(members, lambda each: json.dumps(_choices(each), sort_keys=True)).values())
        for variant in variants:
            runs[label + _difference(variant[0], [each[0] for each in variants])] = variant
    ordered = sorted(runs, key=lambda label: (label != runs[label][0].kind, rank_of(runs[label][0].kind)))
    return {label: tuple(sorted(runs[label], key=lambda each: each.seed)) for label in ordered}


def _choices(record: RunRecord) -> dict[str, Any]:
    """All that decides a run apart from its seed and data, by field name."""
    return {**record.settings, **record.config}


def _difference(record: RunRecord, variants: list[RunRecord]) -> str:
    """The fields in which one of several models under the same label is different, in brackets; empty for one."""
    choices = [_choices(each) for each in variants]
    differing = sorted(
        name
        for name in set().union(*choices)
        if max(Counter(json.dumps(each.get(name), sort_keys=True) for each in choices).values()) < len(choices)
    )
    own = _choices(record)
    return f" ({', '.join(f'{name}={own.get(name)}' for name in differing)})" if differing else ""
