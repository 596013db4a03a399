"""Trials: runs of a protocol with something changed, also with changes that the code no longer knows."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tipshare.checkpoint.reading import parse_json
from tipshare.checkpoint.record import CHECKS, RunRecord
from tipshare.files import write_text
from training.results.summaries import LOSS, losses_by_depth

# In the folder of benchmark reports: these runs are no records, since their configs cannot be built any more.
FILE_NAME = "trials.jsonl"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one run of a protocol says of a change.

    Attributes:
        recipe: The protocol and the fields that were changed, joined by `+`.
        about: The change in words; empty if its fields say enough.
        losses: By the number of depth steps that the run was read with.
    """

    recipe: str
    about: str
    model: str
    kind: str
    seed: int
    config: dict[str, Any]
    settings: dict[str, Any]
    parameters: int
    own_steps: int
    losses: dict[int, float]
    step_ms: float
    finished: str
    commit: str

    @staticmethod
    def of(record: Mapping[str, Any], about: str = "") -> "Trial":
        """The trial in the fields of a record, whose config may have fields that no config knows."""
        missing = sorted(CHECKS.keys() - record.keys())
        if missing:
            raise ValueError(f"not the record of a run: missing {missing}"[:300])
        for name, check in CHECKS.items():
            check(name, record[name])
        config, final = record["config"], record["final"]
        own = config.get("depth_steps") or config["num_layers"]
        kept = {each.name: record[each.name] for each in dataclasses.fields(Trial) if each.name in record}
        derived = {"about": about, "own_steps": own, "losses": {own: final[LOSS]} | losses_by_depth(final)}
        sizes = {"parameters": record["parameters"]["total"], "step_ms": record["speed"]["step_ms"]}
        return Trial(**{**kept, **derived, **sizes})

    @property
    def protocol(self) -> str:
        return self.recipe.partition("+")[0]

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes, each as `field=value`."""
        return tuple(self.recipe.split("+")[1:])

    @property
    def loss(self) -> float:
        """At the model's own number of depth steps."""
        return self.losses[self.own_steps]

    def is_unchanged(self, other: "Trial") -> bool:
        """Whether `other` is this run without its changes: the same protocol and seed, and all other fields alike."""
        if (other.recipe, other.about) != (self.protocol, ""):
            return False
        changed = {each.partition("=")[0] for each in self.changes}
        ours, theirs = ({**each.settings, **_prefixed(each.config)} for each in (self, other))
        # Fields that only one of the two has are the change itself, or are younger than the run.
        common = (ours.keys() & theirs.keys()) - changed
        return (self.model, self.seed) == (other.model, other.seed) and all(ours[key] == theirs[key] for key in common)


def _prefixed(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a config as changes name them."""
    return {f"model.{name}": value for name, value in config.items()}


def trials_of(records: Iterable[RunRecord]) -> list[Trial]:
    """Runs as trials, those of the protocols themselves among them; runs without a final loss tell nothing."""
    return [Trial.of(vars(each)) for each in records if LOSS in each.final and "step_ms" in each.speed]


def unchanged(trial: Trial, known: Sequence[Trial]) -> Trial | None:
    """The run without the changes of a trial, if it is known."""
    return next((each for each in known if trial.is_unchanged(each)), None)


def read_run(folder: Path, about: str) -> Trial:
    """The trial that a finished run left in its `record.json`."""
    path = folder / "record.json"
    if not path.is_file():
        raise ValueError(f"{folder} holds no record.json: give the folder of a finished run")
    return Trial.of(parse_json(path.read_bytes(), str(path)), about)


def read_trials(path: Path) -> list[Trial]:
    """The trials of a JSON lines file; none if there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    trials = [Trial(**parse_json(line, path.name)) for line in lines]
    return [dataclasses.replace(each, losses={int(k): v for k, v in each.losses.items()}) for each in trials]


def add_trials(trials: Iterable[Trial], path: Path) -> None:
    """Add trials to a JSON lines file; one of the same change, model and seed is replaced."""
    by_run = {(each.recipe, each.about, each.model, each.seed): each for each in [*read_trials(path), *trials]}
    lines = (json.dumps(dataclasses.asdict(each), sort_keys=True, allow_nan=False) for each in by_run.values())
    write_text(path, "".join(f"{line}\n" for line in lines))
