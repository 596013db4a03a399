"""The figures of a report, by file name."""

from collections.abc import Callable
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from training.report.figure_style import FORMATS, STYLE, MissingDataError, save_figure
from training.report.grid_figures import draw_ablation_grid, draw_depth_steps, draw_significance
from training.report.loss_figures import draw_learning_curves, draw_loss, draw_parameters, draw_step_time
from training.results.groups import RunGroup
from training.results.summaries import LOSS

FIGURES: dict[str, Callable[[RunGroup, str], Figure]] = {
    "loss": draw_loss,
    "loss_against_parameters": draw_parameters,
    "learning_curves": draw_learning_curves,
    "step_time": draw_step_time,
    "significance": draw_significance,
    "ablation_grid": draw_ablation_grid,
    "depth_steps": draw_depth_steps,
}


def write_figures(group: RunGroup, folder: Path, *, metric: str = LOSS) -> tuple[list[Path], list[str]]:
    """Write every figure that the group has data for, and say of the others why they are missing."""
    written: list[Path] = []
    notes: list[str] = []
    for name, draw in FIGURES.items():
        try:
            with matplotlib.rc_context(STYLE):
                written += save_figure(draw(group, metric), folder / name)
        except MissingDataError as error:
            notes.append(f"No figure {name}: {error}.")
            # One left from an earlier report would show what the records no longer say.
            for suffix in FORMATS:
                (folder / f"{name}.{suffix}").unlink(missing_ok=True)
    return written, notes
