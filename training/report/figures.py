"""The figures of a report: views drawn with matplotlib and written as files."""

import io
import threading
from collections.abc import Sequence
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
    return _render(view, (suffix,), dpi, metadata or {})[suffix]


def write_figure(view: FigureView[Any], stem: Path) -> list[Path]:
    """A view as files of all formats, which share one drawing."""
    paths = []
    for suffix, content in _render(view, FORMATS, 200, {}).items():
        paths.append(stem.with_name(f"{stem.name}.{suffix}"))
        write_bytes(paths[-1], content)
    return paths


def _render(view: FigureView[Any], suffixes: Sequence[str], dpi: int, metadata: dict[str, str]) -> dict[str, bytes]:
    view.check()
    written = {suffix: io.BytesIO() for suffix in suffixes}
    with _drawing, matplotlib.rc_context(STYLE):
        figure = draw_view(view)
        for suffix, file in written.items():
            dates = {"CreationDate": None} if suffix == "pdf" else {}
            figure.savefig(file, format=suffix, dpi=dpi, metadata={**dates, **metadata})
    return {suffix: file.getvalue() for suffix, file in written.items()}


def write_figures(selection: Selection, folder: Path) -> tuple[list[Path], list[str]]:
    """Write every figure that the selection has data for, and say of the others why they are missing."""
    written: list[Path] = []
    notes: list[str] = []
    for name, make_view in FIGURES.items():
        view = make_view(selection)
        if view.missing:
            notes.append(f"No figure {name}: {view.missing}.")
            # One left from an earlier report would show what the records no longer say.
            for suffix in FORMATS:
                (folder / f"{name}.{suffix}").unlink(missing_ok=True)
        else:
            written += write_figure(view, folder / name)
    return written, notes
