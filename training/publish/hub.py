"""Publish checkpoints and the demo: cards with comparisons, one commit each, collections, the Space."""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from tipshare.checkpoint import Checkpoint, list_bundled, locate, read_folder
from tipshare.checkpoint.card import ComparisonRow, make_card
from tipshare.checkpoint.container import write_pieces
from tipshare.checkpoint.gate_figure import draw_gates
from tipshare.checkpoint.hub import Published, list_files, push
from tipshare.checkpoint.layout import CARD, CONFIG, FIGURE
from training.results.records import RunRecord

COLLECTION = "Time-indexed parameter sharing"
# Where the final weights of a run may lie, seen from what a person calls the run.
CHECKPOINT_PLACES = (".", "checkpoint", "model")
LOSS = "valid_loss"


@dataclass(frozen=True)
class Upload:
    """A folder that is about to be pushed."""

    folder: Path
    repo_id: str
    files: dict[str, int]

    @property
    def size(self) -> int:
        return sum(self.files.values())

    def __str__(self) -> str:
        lines = [f"{self.folder} -> {self.repo_id}: {len(self.files)} files, {self.size / 1e6:.1f} MB"]
        return "\n".join([*lines, *(f"  {size:>12,}  {name}" for name, size in self.files.items())])


def find_checkpoint(run_or_folder: str | Path) -> Checkpoint:
    """The checkpoint in a folder, of a run's folder, or of a bundled name."""
    path = Path(run_or_folder)
    for place in CHECKPOINT_PLACES:
        if (path / place / CONFIG).is_file():
            return read_folder(path / place)
    if str(run_or_folder) in list_bundled():
        return read_folder(locate(str(run_or_folder)).folder)
    raise ValueError(f"{run_or_folder} holds no checkpoint: give a run's folder, a checkpoint folder or a bundled name")


def compare_runs(records: Iterable[RunRecord], recipe: str | None) -> list[ComparisonRow]:
    """A row per model of one recipe: mean final loss over its seeds, with a 95 % t interval from two runs on."""
    groups: dict[str, list[RunRecord]] = defaultdict(list)
    for record in records:
        if record.recipe == recipe and LOSS in record.final:
            groups[record.model].append(record)
    return [_summarise(model, runs) for model, runs in groups.items()]


def _summarise(model: str, runs: Sequence[RunRecord]) -> ComparisonRow:
    losses = np.array([record.final[LOSS] for record in runs])
    mean, low, high = float(losses.mean()), None, None
    if len(losses) > 1:
        half = float(stats.t.ppf(0.975, len(losses) - 1) * losses.std(ddof=1) / np.sqrt(len(losses)))
        low, high = mean - half, mean + half
    parameters = runs[0].parameters.get("total", 0)
    return ComparisonRow(model=model, parameters=parameters, runs=len(runs), mean=mean, low=low, high=high)


def prepare_upload(checkpoint: Checkpoint, repo_id: str, records: Iterable[RunRecord] = ()) -> Upload:
    """Write the card for this repository into the folder, with the gate figure, and list what will be uploaded."""
    folder, record = checkpoint.folder, checkpoint.record
    with tempfile.TemporaryDirectory(prefix=".card.", dir=folder) as scratch:
        figure = draw_gates(checkpoint.load("float32"), Path(scratch) / FIGURE)
        rows = compare_runs(records, (record or {}).get("recipe"))
        card = make_card(checkpoint.config, record, name=repo_id, comparison=rows, figure=figure)
        write_pieces(Path(scratch) / CARD, [card.encode()])
        for path in Path(scratch).iterdir():
            path.replace(folder / path.name)
    files = {name: path.stat().st_size for name, path in sorted(list_files(checkpoint).items())}
    return Upload(folder, repo_id, files)


def push_upload(
    upload: Upload, *, private: bool = False, tag: str | None = None, collection: str | None = None
) -> Published:
    """Push what `prepare_upload` prepared, and put the repository into a collection if one is named."""
    published = push(upload.folder, upload.repo_id, private=private, tag=tag)
    if collection is not None:
        add_to_collection(upload.repo_id, collection)
    return published


def add_to_collection(repo_id: str, title: str) -> None:
    """Put a model into the collection of that title of its owner, which is made if there is none."""
    from huggingface_hub import HfApi

    api = HfApi()
    collection = api.create_collection(title, namespace=repo_id.split("/")[0], exists_ok=True)
    api.add_collection_item(collection.slug, repo_id, "model", exists_ok=True)


def plan_all(folder: Path, organisation: str, kinds: Iterable[str], prefix: str = "") -> Mapping[str, Checkpoint]:
    """The checkpoint of every kind by the repository it goes to; all of them must be there before any is pushed."""
    found = {f"{organisation}/{prefix}{kind}": folder / kind for kind in kinds}
    missing = [str(path) for path in found.values() if not (path / CONFIG).is_file()]
    if missing:
        raise ValueError(f"no checkpoint in {', '.join(missing)}: train and save these models first")
    return {repo_id: read_folder(path) for repo_id, path in found.items()}
