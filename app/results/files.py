"""Files to download: the table, and every figure as PDF and as the numbers it shows."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from training.results.selection import Selection
from training.results.views import FIGURES
from training.results.views.losses import results_table


def write_table(selections: Sequence[Selection], form: str, folder: Path) -> Path:
    """The table as `csv`, or as `tex` with a table for every group."""
    if form == "csv":
        text = results_table(*selections).to_csv()
    else:
        from training.report.tables import to_latex

        text = "\n".join(f"% {each.group.name}\n{to_latex(results_table(each))}" for each in selections)
    return _keep(text.encode(), f"results-{selections[0].group.name}", form, folder)


def write_figure(selection: Selection, figure: str, form: str, folder: Path) -> Path:
    """A figure as `pdf`, or the numbers it shows as `csv`; ValueError if it shows nothing."""
    if figure not in FIGURES:
        raise ValueError(f"no figure is called {figure!r}; the figures are {', '.join(FIGURES)}")
    view = FIGURES[figure](selection)
    if form == "csv":
        content = view.to_csv().encode()
    else:
        from training.report.figures import render

        content = render(view, form)
    return _keep(content, f"{figure}-{view.runs}", form, folder)


def _keep(content: bytes, name: str, form: str, folder: Path) -> Path:
    """Write a file into a folder named by its content, so that asking twice does not fill the disk."""
    place = folder / hashlib.sha256(content).hexdigest()[:24]
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{name[:120]}.{form}"
    path.write_bytes(content)
    return path
