"""The figures in README and docs: drawn from records and benchmarks, each marked with a digest of what it shows."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tipshare.files import write_bytes
from training.report.figures import render
from training.report.parts import Records, read_reports
from training.results.groups import group_records
from training.results.leading import leading_group
from training.results.selection import Against, Selection
from training.results.views import FIGURES
from training.results.views.depth_reports import speed_view
from training.results.views.document_tables import usual_runs
from training.results.views.elastic import elastic_view
from training.results.views.equal_time import time_view
from training.results.views.figure import FigureView
from training.results.views.scaling import scaling_group, scaling_view

FINETUNING = "finetune-wikitext-2-to-shakespeare"
MARK = "Records"

Draws = Callable[[Records, Path | None], FigureView[Any] | None]


def _of_group(recipe: str, figure: str) -> Draws:
    def draw(records: Records, _: Path | None) -> FigureView[Any] | None:
        group = next((each for each in group_records(usual_runs(records)) if each.name == recipe), None)
        return None if group is None else FIGURES[figure](Selection(group=group))

    return draw


def _sizes(records: Records, _: Path | None) -> FigureView[Any] | None:
    group = leading_group(usual_runs(records)) if records else None
    return None if group is None else FIGURES["loss_against_parameters"](Selection(group=group))


def _time(records: Records, benchmarks: Path | None) -> FigureView[Any] | None:
    reports = read_reports(benchmarks, "steps") if benchmarks else []
    return time_view(records, reports[0]) if reports else None


def _speed(_: Records, benchmarks: Path | None) -> FigureView[Any] | None:
    reports = read_reports(benchmarks, "depth-") if benchmarks else []
    return speed_view(reports) if reports else None


def _scaling(cost: Against) -> Draws:
    def draw(records: Records, _: Path | None) -> FigureView[Any] | None:
        group = scaling_group(records)
        return None if group is None else scaling_view(group, cost)

    return draw


# By file name, with the words that stand for the figure where it cannot be seen.
README_FIGURES: dict[str, tuple[str, Draws]] = {
    "loss.png": ("Loss of every kind, beside the published ones", _of_group("published-1000", "loss")),
    "sizes.png": ("Loss against stored parameters", _sizes),
    "ablations.png": ("Loss by weights and mixer", _of_group("ablation-weights", "ablation_grid")),
    "timeline.png": ("Validation loss along training", _of_group("published-3000", "learning_curves")),
    "finetuning.png": (
        "Loss against trained parameters, by kind",
        _of_group(FINETUNING, "loss_against_parameters"),
    ),
    "elastic.png": ("Loss against depth steps", lambda records, _: elastic_view(records)),
    "depth-speed.png": ("Loss against bytes per second, by depth steps", _speed),
    "training-time.png": ("Validation loss against training time", _time),
    "scaling.png": ("Loss against stored parameters", _scaling("parameters")),
    "scaling-flops.png": ("Loss against training operations per byte", _scaling("flops")),
}


def picture(name: str, records: Records, benchmarks: Path | None = None) -> str:
    """The figure as a page in docs/results shows it; empty if there is nothing to draw."""
    return f"![{README_FIGURES[name][0]}](../{name})" if name in views_of(records, benchmarks, [name]) else ""


def write_readme_figures(records: Records, folder: Path, benchmarks: Path | None = None) -> list[Path]:
    """Draw every figure of README and docs that there are numbers for."""
    written = []
    for name, view in views_of(records, benchmarks).items():
        write_bytes(folder / name, render(view, "png", dpi=150, metadata={MARK: digest_of(view)}))
        written.append(folder / name)
    return written


def digest_of(view: FigureView[Any]) -> str:
    """Short name of the numbers that a figure shows."""
    return hashlib.sha256(view.to_csv().encode()).hexdigest()[:12]


def views_of(
    records: Records, benchmarks: Path | None, names: Sequence[str] = tuple(README_FIGURES)
) -> dict[str, FigureView[Any]]:
    """The figures that have something to show."""
    views = {name: README_FIGURES[name][1](records, benchmarks) for name in names}
    return {name: view for name, view in views.items() if view is not None and not view.missing}
