"""Checkpoints on their way to the Hub: find them, write cards that compare them, gather them in a collection."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tipshare.checkpoint import Checkpoint, list_bundled, locate, read_folder
from tipshare.checkpoint.card import ComparisonRow, make_card
from tipshare.checkpoint.gate_figure import draw_gates
from tipshare.checkpoint.hub import list_files
from tipshare.checkpoint.layout import CARD, CONFIG, FIGURE
from tipshare.checkpoint.reading import size_of
from tipshare.checkpoint.record import RunRecord
from tipshare.files import write_bytes, write_text
from training.results.groups import group_records
from training.results.summaries import summarise_group

COLLECTION = "Time-indexed parameter sharing"


def find_checkpoint(run_or_folder: str | Path) -> Checkpoint:
    """The checkpoint in a folder, such as that of a run, or of a bundled name."""
    path = Path(run_or_folder)
    if (path / CONFIG).is_file():
        return read_folder(path)
    if str(run_or_folder) in list_bundled():
        return read_folder(locate(str(run_or_folder)).folder)
    raise ValueError(f"{run_or_folder} holds no checkpoint: give a run's folder, a checkpoint folder or a bundled name")


def compare_runs(records: Iterable[RunRecord], record: RunRecord) -> list[ComparisonRow]:
    """A row per model that may share a table with this run: mean final loss, and its 95 % interval over seeds."""
    groups = group_records([*records, record])
    group = next(each for each in groups if any(run.id == record.id for runs in each.runs.values() for run in runs))
    return [
        ComparisonRow(
            model=label,
            parameters=group.runs[label][0].parameters.get("total", 0),
            runs=len(summary.values),
            mean=summary.mean,
            low=summary.low,
            high=summary.high,
        )
        for label, summary in summarise_group(group).items()
    ]


def write_card(checkpoint: Checkpoint, repo_id: str, records: Sequence[RunRecord] = ()) -> None:
    """Write the card for this repository into the checkpoint's folder, with a comparison and the gate figure."""
    with tempfile.TemporaryDirectory() as scratch:
        drawn = Path(scratch) / FIGURE
        figure = draw_gates(checkpoint.load("float32"), drawn)
        if figure:
            write_bytes(checkpoint.folder / FIGURE, drawn.read_bytes())
    rows = compare_runs(records, checkpoint.record) if records and checkpoint.record else []
    card = make_card(checkpoint.config, checkpoint.record, name=repo_id, comparison=rows, figure=figure)
    write_text(checkpoint.folder / CARD, card)


def describe_upload(checkpoint: Checkpoint, repo_id: str) -> str:
    """The files that a push uploads, with their sizes."""
    sizes = {name: size_of(path) for name, path in sorted(list_files(checkpoint).items())}
    head = f"{checkpoint.folder} -> {repo_id}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB"
    return "\n".join([head, *(f"  {size:>12,}  {name}" for name, size in sizes.items())])


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
