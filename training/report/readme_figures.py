"""The figures in README and docs: drawn from records and benchmarks, each marked with a digest of what it shows."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tipshare.files import write_bytes
from training.report.figures import render
from training.results.groups import RunGroup, find_group
from training.results.leading import leading_group, usual_runs
from training.results.records import RunRecord
from training.results.selection import Selection
from training.results.views import FIGURES
from training.results.views.depth_reports import speed_view
from training.results.views.elastic import elastic_view
from training.results.views.equal_time import time_view
from training.results.views.figure import FigureView
from training.results.views.scaling import scaling_group, scaling_view

FINETUNING = "finetune-wikitext-2-to-shakespeare"
MARK = "Records"

Records = Sequence[RunRecord]
# The view of a figure, from records and a folder of benchmark reports; None if there are no runs of it.
Draws = Callable[[Records, Path | None], FigureView[Any] | None]


def read_reports(folder: Path | None, name: str) -> list[dict[str, Any]]:
    """The reports `NAME*.json` in a folder of benchmarks; none if there is no folder."""
    paths = sorted(folder.glob(f"{name}*.json"), key=lambda path: path.stem) if folder else []
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def _of_group(choose: Callable[[Records], RunGroup | None], view: Callable[[RunGroup], FigureView[Any]]) -> Draws:
    def draw(records: Records, _: Path | None) -> FigureView[Any] | None:
        group = choose(records) if records else None
        return None if group is None else view(group)

    return draw


def _of_recipe(recipe: str, figure: str) -> Draws:
    return _of_group(lambda records: find_group(usual_runs(records), recipe), _usual(figure))


def _usual(figure: str) -> Callable[[RunGroup], FigureView[Any]]:
    return lambda group: FIGURES[figure](Selection(group=group))


def _time(records: Records, benchmarks: Path | None) -> FigureView[Any]:
    return time_view(records, next(iter(read_reports(benchmarks, "steps")), {}))


# By file name, with the words that stand for the figure where it cannot be seen.
README_FIGURES: dict[str, tuple[str, Draws]] = {
    "loss.png": ("Loss of every kind, beside the published ones", _of_recipe("published-1000", "loss")),
    "sizes.png": ("Loss against stored parameters", _of_group(leading_group, _usual("loss_against_parameters"))),
    "ablations.png": ("Loss by weights and mixer", _of_recipe("ablation-weights", "ablation_grid")),
    "timeline.png": ("Validation loss along training", _of_recipe("published-3000", "learning_curves")),
    "finetuning.png": (
        "Loss against trained parameters, by kind",
        _of_recipe(FINETUNING, "loss_against_parameters"),
    ),
    "elastic.png": ("Loss against depth steps", lambda records, _: elastic_view(records)),
    "depth-speed.png": (
        "Loss against bytes per second, by depth steps",
        lambda _, benchmarks: speed_view(read_reports(benchmarks, "depth-")),
    ),
    "training-time.png": ("Validation loss against training time", _time),
    "scaling.png": (
        "Loss against stored parameters",
        _of_group(scaling_group, lambda group: scaling_view(group, "parameters")),
    ),
    "scaling-flops.png": (
        "Loss against training operations per byte",
        _of_group(scaling_group, lambda group: scaling_view(group, "flops")),
    ),
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
