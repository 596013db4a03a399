"""The figures of a report: views drawn with matplotlib and written as files."""

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from training.report.figure_style import STYLE
from training.report.files import write_bytes
from training.report.grid_figures import draw_ablation_grid, draw_depth_steps, draw_significance
from training.report.loss_figures import draw_learning_curves, draw_loss, draw_parameters, draw_step_time
from training.results.selection import Selection
from training.results.views import FIGURES
from training.results.views.figure import FigureView

FORMATS = ("png", "pdf")
DRAWINGS: dict[str, Callable[[FigureView[Any]], Figure]] = {
    "loss": draw_loss,
    "loss_against_parameters": draw_parameters,
    "learning_curves": draw_learning_curves,
    "step_time": draw_step_time,
    "significance": draw_significance,
    "ablation_grid": draw_ablation_grid,
    "depth_steps": draw_depth_steps,
}
# Matplotlib's settings belong to the whole process.
_drawing = threading.Lock()


def render(view: FigureView[Any], suffix: str, *, dpi: int = 200, metadata: dict[str, str] | None = None) -> bytes:
    """A view as the content of a `png` or `pdf` file; the same view gives the same bytes."""
    view.check()
    written = io.BytesIO()
    dates = {"CreationDate": None} if suffix == "pdf" else {}
    with _drawing, matplotlib.rc_context(STYLE):
        figure = DRAWINGS[view.name](view)
        figure.savefig(written, format=suffix, dpi=dpi, metadata={**dates, **(metadata or {})})
    return written.getvalue()


def write_figures(selection: Selection, folder: Path) -> tuple[list[Path], list[str]]:
    """Write every figure that the selection has data for, and say of the others why they are missing."""
    written: list[Path] = []
    notes: list[str] = []
    for name, make_view in FIGURES.items():
        view = make_view(selection)
        paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
        if view.missing:
            notes.append(f"No figure {name}: {view.missing}.")
            # One left from an earlier report would show what the records no longer say.
            for path in paths:
                path.unlink(missing_ok=True)
            continue
        for path, suffix in zip(paths, FORMATS, strict=True):
            write_bytes(path, render(view, suffix))
        written += paths
    return written, notes
