"""The figures of a report: views drawn with matplotlib and written as files."""

import io
import threading
from pathlib import Path
from typing import Any

import matplotlib

from tipshare.files import write_bytes
from training.report.drawings import draw_view
from training.report.figure_style import STYLE
from training.results.selection import Selection
from training.results.views import FIGURES
from training.results.views.figure import FigureView

FORMATS = ("png", "pdf")
# Matplotlib's settings belong to the whole process.
_drawing = threading.Lock()


def render(view: FigureView[Any], suffix: str, *, dpi: int = 200, metadata: dict[str, str] | None = None) -> bytes:
    """A view as the content of a `png` or `pdf` file; the same view gives the same bytes."""
    view.check()
    written = io.BytesIO()
    dates = {"CreationDate": None} if suffix == "pdf" else {}
    with _drawing, matplotlib.rc_context(STYLE):
        figure = draw_view(view)
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
