"""Files to download: the table, and every figure as PDF and as data."""

import hashlib
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import matplotlib

from app.results.comparison_figures import depth_group, grid_group
from app.results.data import Choice
from app.results.tables import table_csv, table_latex
from training.report.figure_style import STYLE, MissingDataError, save_figure
from training.report.figures import FIGURES
from training.report.grid_figures import grid_cells, losses_at_steps, trained_depths
from training.report.tables import significance_csv, to_csv
from training.results.groups import RunGroup
from training.results.summaries import LOSS, Summary

# As on the page, these two show other runs than the chosen ones where those have no data for them.
_SHOWN_GROUP: dict[str, Callable[[Choice], RunGroup]] = {"ablation_grid": grid_group, "depth_steps": depth_group}

# Matplotlib's settings belong to the whole process.
_drawing = threading.Lock()


def write_table(choice: Choice, groups: tuple[RunGroup, ...], form: str, folder: Path) -> Path:
    """The table as `csv` or `tex`."""
    text = {"csv": table_csv, "tex": table_latex}[form](groups, choice.source)
    return _keep(text.encode(), f"results-{choice.group.name}.{form}", folder)


def write_figure_data(choice: Choice, figure: str, folder: Path) -> Path:
    """The numbers behind a figure, as CSV."""
    return _keep(_data_of(figure)(choice).encode(), f"{figure}-{choice.group.name}.csv", folder)


def write_figure_pdf(choice: Choice, figure: str, folder: Path) -> Path:
    """A figure as PDF, as in the report; ValueError if there is no data for it."""
    _data_of(figure)
    try:
        group = _SHOWN_GROUP.get(figure, lambda choice: choice.group)(choice)
        return _keep(_draw_pdf(figure, group), f"{figure}-{group.name}.pdf", folder)
    except MissingDataError as error:
        raise ValueError(f"there is no PDF of this figure for {choice.group.name}: {error}") from error


def _draw_pdf(figure: str, group: RunGroup) -> bytes:
    with tempfile.TemporaryDirectory() as place, _drawing, matplotlib.rc_context(STYLE):
        files = save_figure(FIGURES[figure](group, LOSS), Path(place) / figure)
        return next(each for each in files if each.suffix == ".pdf").read_bytes()


def _keep(content: bytes, name: str, folder: Path) -> Path:
    """Write a file into a folder named by its content, so that asking twice does not fill the disk."""
    place = folder / hashlib.sha256(content).hexdigest()[:24]
    place.mkdir(parents=True, exist_ok=True)
    path = place / name[:120]
    path.write_bytes(content)
    return path


def _rows_csv(choice: Choice) -> str:
    return table_csv((choice.group,), choice.source)


def _curves_csv(choice: Choice) -> str:
    lines = [
        (label, run.seed, which, step, loss)
        for label, runs in choice.group.runs.items()
        for run in runs
        for which, curve in (("validation", run.curve), ("training", run.train_curve))
        for step, loss in curve
    ]
    return to_csv(("model", "seed", "curve", "step", "loss"), lines)


def _grid_csv(choice: Choice) -> str:
    lines = [
        (group.name, weights, mixer, label, *_numbers(summary))
        for group in choice.everything
        for (weights, mixer), (label, summary) in grid_cells(group).items()
    ]
    return to_csv(("recipe", "weights", "mixer", "model", "loss", "low", "high", "seeds"), lines)


def _depth_csv(choice: Choice) -> str:
    lines = [
        (group.name, label, "same weights", depth, *_numbers(summary))
        for group in choice.everything
        for label in group.labels
        for depth, summary in losses_at_steps(group, label).items()
    ]
    lines += [
        (group.name, kind, "trained at each depth", depth, *_numbers(summary))
        for group in choice.everything
        for kind, points in trained_depths(group, LOSS).items()
        for depth, summary in points.items()
    ]
    return to_csv(("recipe", "model", "how", "depth_steps", "loss", "low", "high", "seeds"), lines)


def _numbers(summary: Summary) -> tuple[float | None, ...]:
    return summary.mean, summary.low, summary.high, len(summary.values)


_DATA: dict[str, Callable[[Choice], str]] = {
    "loss": _rows_csv,
    "loss_against_parameters": _rows_csv,
    "learning_curves": _curves_csv,
    "step_time": _rows_csv,
    "significance": lambda choice: significance_csv(choice.group),
    "ablation_grid": _grid_csv,
    "depth_steps": _depth_csv,
}


def _data_of(figure: str) -> Callable[[Choice], str]:
    if figure not in _DATA:
        raise ValueError(f"no figure is called {figure!r}; the figures are {', '.join(_DATA)}")
    return _DATA[figure]
