"""The figures in the README: drawn from records, each marked with a digest of the numbers it shows."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tipshare.files import write_bytes
from training.report.figures import render
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord
from training.results.selection import Selection
from training.results.summaries import LOSS
from training.results.views import FIGURES
from training.results.views.document_tables import usual_runs

# By file name: the recipe whose runs a figure shows, and which figure it is.
README_FIGURES: dict[str, tuple[str, str]] = {
    "loss.png": ("published-1000", "loss"),
    "sizes.png": ("published-1000", "loss_against_parameters"),
    "ablations.png": ("ablation-weights", "ablation_grid"),
    "timeline.png": ("published-3000", "learning_curves"),
    "finetuning.png": ("finetune-wikitext-2-to-shakespeare", "loss_against_parameters"),
}
# Figures that the documents show as soon as there are runs for them.
LATER = ("finetuning.png",)
MARK = "Records"


def write_readme_figures(records: Sequence[RunRecord], folder: Path) -> list[Path]:
    """Draw every figure of the README that the records have data for."""
    written = []
    for name, (group, figure) in _available(records).items():
        view = FIGURES[figure](Selection(group=group))
        if not view.missing:
            write_bytes(folder / name, render(view, "png", dpi=150, metadata={MARK: digest_of(group)}))
            written.append(folder / name)
    return written


def outdated_figures(records: Sequence[RunRecord], folder: Path) -> list[str]:
    """Names of the README's figures that are missing or show other numbers than the records."""
    digests = {name: digest_of(group) for name, (group, _) in _available(records).items()}
    wanted = [name for name in README_FIGURES if name in digests or name not in LATER]
    texts = {name: path.read_bytes() if (path := folder / name).is_file() else b"" for name in wanted}
    return [name for name, text in texts.items() if name not in digests or digests[name].encode() not in text]


def _available(records: Sequence[RunRecord]) -> dict[str, tuple[RunGroup, str]]:
    groups = {each.name: each for each in group_records(usual_runs(records))}
    return {name: (groups[recipe], figure) for name, (recipe, figure) in README_FIGURES.items() if recipe in groups}


def digest_of(group: RunGroup) -> str:
    """Short name of the numbers in a group: models, seeds, sizes, losses and curves."""
    shown = {
        label: [(run.seed, run.parameters["total"], run.final[LOSS], run.curve) for run in runs]
        for label, runs in group.runs.items()
    }
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:12]
