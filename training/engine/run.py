"""One run: what is trained, on what, from which seed, and where its files go."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tipshare.checkpoint import CheckpointError, read_folder
from tipshare.checkpoint.layout import CHECKSUMS, RECORD
from tipshare.config import ModelConfig
from tipshare.files import locked, remove_left_overs
from training.data.corpus import Corpus
from training.engine.elastic import depths_to_evaluate
from training.engine.start import Start
from training.recipes.recipe import Recipe
from training.results.records import RunRecord, append_record, known_records
from training.results.summaries import depth_loss

LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Run:
    """A recipe, a model of it and a seed.

    Attributes:
        recipe: The recipe as it is for this model.
        model: Label of the model in tables.
        folder: Where states, metrics, the record and the final checkpoint go.
        collection: The JSON lines file that gathers the records of many runs.
        command: The command that repeats the run.
        start: Where the run begins; None for new weights.
    """

    recipe: Recipe
    model: str
    config: ModelConfig
    seed: int
    corpus: Corpus
    folder: Path
    collection: Path
    command: str
    start: Start | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ValueError(f"seed={self.seed} must lie in 0 .. {LARGEST_SEED}")
        self.corpus.check_length(self.recipe.length)
        if self.start is not None and self.start.first_text is not None:
            self.start.first_text.check_length(self.recipe.length)
        for split in self.recipe.full_evaluation:
            if split not in self.corpus.splits and split != "test":
                self.corpus.split(split)

    def identity(self) -> dict[str, Any]:
        """Everything that the results of this run depend on, as JSON values under the names of a record's fields."""
        settings, data = self.recipe.settings(), dict(self.corpus.describe())
        if self.start is not None:
            settings |= self.start.facts
        if self.start is not None and self.start.first_text is not None:
            data["first text, valid"] = self.start.first_text.describe()["valid"]
        return {
            "recipe": self.recipe.name,
            "config": self.config.to_dict(),
            "settings": settings,
            "data": data,
            "seed": self.seed,
        }

    def check_identity(self, other: dict[str, Any]) -> None:
        """Raise ValueError if a state or record in this run's folder belongs to another run."""
        for name, value in self.identity().items():
            if other.get(name) != value:
                raise ValueError(
                    f"{self.folder} holds a run with another {name}: {_difference(other.get(name), value)}; "
                    "choose another --out, or delete the folder"
                )

    def finished_record(self) -> RunRecord | None:
        """The record, if this run is finished."""
        # A checkpoint's checksums are the last file that saving writes.
        if not (self.folder / CHECKSUMS).exists():
            return None
        try:
            checkpoint = read_folder(self.folder)
            checkpoint.verify()
        except CheckpointError as error:
            raise ValueError(
                f"the finished run in {self.folder} was damaged ({error}): delete that folder to train it again"
            ) from error
        if checkpoint.record is None:
            problem = checkpoint.record_problem or f"it has no {RECORD}"
            raise ValueError(
                f"{self.folder} holds a checkpoint that is no run of ours ({problem}): choose another --out"
            )
        self.check_identity(vars(checkpoint.record))
        return checkpoint.record

    def check_collection(self) -> None:
        """Raise ValueError if the file that gathers records could not take the one of this run."""
        known_records(self.collection)

    def finished_elsewhere(self) -> RunRecord | None:
        """The record of the same run under another recipe's name, if the collection has one."""
        wanted = self.identity()
        name = wanted.pop("recipe")
        same = (
            each
            for each in known_records(self.collection)
            if all(getattr(each, key) == value for key, value in wanted.items())
        )
        asked = {depth_loss(steps) for steps in depths_to_evaluate(self.recipe, self.config)}
        return next((each for each in same if each.recipe != name and asked <= each.final.keys()), None)

    def collect(self, record: RunRecord) -> None:
        """Add the record to the collection unless it is there; several processes may do so at once."""
        with locked(self.collection.with_suffix(".lock"), wait=True):
            remove_left_overs(self.collection)
            if record not in known_records(self.collection):
                append_record(record, self.collection)


def _difference(found: Any, wanted: Any) -> str:
    """The first difference between two JSON values."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for name in sorted(found.keys() | wanted.keys()):
            if found.get(name) != wanted.get(name):
                return f"{name}: {_difference(found.get(name), wanted.get(name))}"
    return f"{found!r} there, {wanted!r} here"
