"""The figures of `tipshare inspect`: drawn once, and written as PNG, PDF and, for the numbers in them, CSV."""

import csv
import importlib.util
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tipshare.analysis.inspection import (
    Inspection,
    byte_name,
    lens_in_words,
    sensitivity_in_words,
    spectra_in_words,
    stream_in_words,
)
from tipshare.files import replacing, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Iterable[Sequence[Any]]
# Of a title line.
LETTERS = 100


def check_matplotlib() -> None:
    """ValueError if figures cannot be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("figures need matplotlib: pip install 'tipshare[train]', or leave out --out")


def write_figures(found: Inspection, folder: Path) -> list[str]:
    """Write every figure to a folder; returns their names."""
    check_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    for name, (draw, rows) in FIGURES.items():
        figure = draw(found)
        for end in ("png", "pdf"):
            with replacing(folder / f"{name}.{end}") as path:
                # Without dates and versions, the same numbers give the same file.
                metadata = {"Software": None} if end == "png" else {"CreationDate": None, "Producer": None}
                figure.savefig(path, format=end, dpi=150, metadata=metadata)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows(found))
        write_text(folder / f"{name}.csv", text.getvalue())
    return list(FIGURES)


def _new(title: str, shape: tuple[int, int], size: tuple[float, float], **how: Any) -> "tuple[Figure, list[Any]]":
    import textwrap

    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(textwrap.fill(title, LETTERS), fontsize=8, x=0.01, ha="left")
    return figure, list(figure.subplots(*shape, squeeze=False, **how).flat)


def _draw_eigenvalues(found: Inspection) -> "Figure":
    words = " ".join(spectra_in_words(name, each) for name, each in found.spectra.items())
    count = len(found.spectra)
    figure, panels = _new(words, (1, count), (3.4 * count, 3.9))
    dots: Any = None
    for axes, (name, each) in zip(panels, found.spectra.items(), strict=True):
        depth = np.broadcast_to(each.t[:, None, None], each.eigenvalues.shape)
        values = each.eigenvalues.ravel()
        dots = axes.scatter(np.real(values), np.imag(values), c=depth.ravel(), s=6, cmap="viridis", linewidths=0)
        axes.set(title=name, xlabel="real part", ylabel="imaginary part")
        axes.set_aspect("equal", "datalim")
    figure.colorbar(dots, ax=panels, label="depth t", shrink=0.8)
    return figure


def _eigenvalue_rows(found: Inspection) -> Rows:
    yield "product", "t", "head", "real", "imaginary"
    for name, each in found.spectra.items():
        for (step, head, _), value in np.ndenumerate(each.eigenvalues):
            yield name, each.t[step], head, value.real, value.imag


def _draw_magnitudes(found: Inspection) -> "Figure":
    words = " ".join(spectra_in_words(name, each) for name, each in found.spectra.items())
    figure, (axes,) = _new(words, (1, 1), (6.4, 3.8))
    for mark, (name, each) in zip("os^", found.spectra.items(), strict=False):
        axes.plot(each.t, each.magnitude.mean(axis=1), marker=mark, label=f"{name}: mean magnitude")
    axes.set(xlabel="depth t", ylabel="mean magnitude of eigenvalues", yscale="log")
    axes.legend(fontsize=8)
    return figure


def _magnitude_rows(found: Inspection) -> Rows:
    yield "product", "t", "head", "magnitude", "radius", "largest_real", "effective_rank"
    for name, each in found.spectra.items():
        for step, head in np.ndindex(each.radius.shape):
            at = step, head
            yield name, each.t[step], head, each.magnitude[at], each.radius[at], each.largest_real[at], each.rank[at]


def _draw_sensitivity(found: Inspection) -> "Figure":
    sensed = found.sensitivity
    figure, (above, below) = _new(sensitivity_in_words(sensed), (2, 1), (9, 4.2), sharex=True)
    places = np.arange(len(sensed.ids))
    above.bar(places, sensed.shares)
    above.set(ylabel="share of the gradient")
    below.plot(places, np.where(np.isfinite(sensed.exponents), sensed.exponents, np.nan), marker=".")
    below.set(ylabel="exponent", xlabel="byte")
    if len(places) <= 96:
        below.set_xticks(
            places, [byte_name(int(each)).strip("\u201c\u201d") for each in sensed.ids], fontsize=6, rotation=90
        )
    return figure


def _sensitivity_rows(found: Inspection) -> Rows:
    yield "position", "byte", "exponent", "gradient", "share"
    sensed = found.sensitivity
    yield from zip(range(len(sensed.ids)), sensed.ids, sensed.exponents, sensed.gradients, sensed.shares, strict=True)


def _draw_lens(found: Inspection) -> "Figure":
    lens = found.lens
    figure, (axes,) = _new(lens_in_words(lens), (1, 1), (9, 3.2))
    image = axes.imshow(lens.divergences, aspect="auto", cmap="viridis_r", interpolation="nearest")
    axes.set_yticks(range(len(lens.t)), [f"{t:.2f}" for t in lens.t])
    axes.set(xlabel="byte", ylabel="stopped at depth t")
    figure.colorbar(image, ax=axes, label="KL to the last (nats)")
    return figure


def _lens_rows(found: Inspection) -> Rows:
    yield "t", "position", "byte", "best", "probability", "entropy", "loss", "divergence"
    lens = found.lens
    for step, place in np.ndindex(lens.entropies.shape):
        at = step, place
        best = lens.bytes[at][0], lens.probabilities[at][0]
        yield lens.t[step], place, lens.ids[place], *best, lens.entropies[at], lens.losses[at], lens.divergences[at]


def _draw_stream(found: Inspection) -> "Figure":
    stream = found.stream
    figure, (left, right) = _new(stream_in_words(stream), (1, 2), (9, 3.8))
    left.plot(stream.t[1:], stream.update_sizes.mean(axis=1), marker="o", label="update / stream")
    left.plot(
        stream.t[1:-1], np.radians(stream.update_angles.mean(axis=1)), marker="s", label="angle between updates (rad)"
    )
    left.set(xlabel="depth t")
    left.legend(fontsize=8)
    image = right.imshow(stream.alignment, vmin=0, vmax=1, cmap="viridis")
    ticks = [f"{t:.2f}" for t in stream.t]
    right.set_xticks(range(len(ticks)), ticks, rotation=90)
    right.set_yticks(range(len(ticks)), ticks)
    right.set(title="CKA", xlabel="depth t", ylabel="depth t")
    figure.colorbar(image, ax=right)
    return figure


def _stream_rows(found: Inspection) -> Rows:
    stream = found.stream
    yield "t", "update_size", "angle_to_the_next_update", "effective_rank", *(f"cka_with_{t:.4g}" for t in stream.t)
    sizes, angles = stream.update_sizes.mean(axis=1), stream.update_angles.mean(axis=1)
    for step, t in enumerate(stream.t):
        size = sizes[step - 1] if step else ""
        angle = angles[step - 1] if 0 < step <= len(angles) else ""
        yield t, size, angle, stream.ranks[step], *stream.alignment[step]


FIGURES: dict[str, tuple[Callable[[Inspection], Any], Callable[[Inspection], Rows]]] = {
    "eigenvalues": (_draw_eigenvalues, _eigenvalue_rows),
    "magnitudes": (_draw_magnitudes, _magnitude_rows),
    "sensitivity": (_draw_sensitivity, _sensitivity_rows),
    "lens": (_draw_lens, _lens_rows),
    "stream": (_draw_stream, _stream_rows),
}
