"""What a shared link to the page shows: a title, a sentence and a picture, made from the records."""

import io
from functools import lru_cache

from app.results.data import all_groups, default_group, default_labels
from tipshare.kinds import colour_of
from training.results.formatting import count_in_words
from training.results.groups import RunGroup
from training.results.rows import result_rows
from training.results.wording import headline_of

TITLE = "tipshare: one block, every depth"
IDEA = "Transformers whose depth is a continuous time: one block is reused at every depth and tuned by small gates."
# Pixels, as those who show previews ask for.
WIDTH, HEIGHT = 1200, 630
_DPI = 100


def _group() -> RunGroup | None:
    """The runs that Results opens with; None without any, and if the records are damaged, which that tab tells."""
    try:
        return default_group(all_groups())
    except ValueError:
        return None


def describe() -> str:
    """The idea, and the headline of the runs that Results opens with, if there are any."""
    group = _group()
    return f"{IDEA} {headline_of(group)}" if group else IDEA


def draw() -> bytes:
    """The picture as PNG: sizes as bars, losses as numbers."""
    return _draw(_group())


@lru_cache(maxsize=2)  # drawn again when the records change
def _draw(group: RunGroup | None) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(0.06, 0.84, "tipshare", fontsize=50, weight="bold", color="#111827")
    figure.text(0.06, 0.74, "One block, every depth:  W(t) = W · σ(g(t))", fontsize=25, color="#374151")
    labels = default_labels(group) if group else []
    rows = [row for row in result_rows(group) if row.label in labels and row.parameters] if group else []
    if rows:
        axes = figure.add_axes((0.27, 0.12, 0.5, 0.54))
        axes.set_axis_off()
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.barh(
            range(len(rows)), [row.parameters or 0 for row in rows], 0.56, color=[colour_of(r.kind) for r in rows]
        )
        unit = f"{rows[0].group.unit} per byte"
        for place, row in enumerate(rows):
            left, right = axes.get_yaxis_transform(), axes.transData
            axes.text(-0.02, place, row.title, transform=left, ha="right", va="center", fontsize=19, color="#111827")
            told = f"  {count_in_words(row.parameters or 0)},  {row.loss.mean:.3f}"
            axes.text(row.parameters or 0, place, told, transform=right, va="center", fontsize=19, color="#111827")
        told = f"Bars: stored parameters. Numbers: parameters, validation loss in {unit}."
        figure.text(0.06, 0.06, told, fontsize=16, color="#4b5563")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()
