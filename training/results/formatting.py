"""Numbers as readers see them, the same in tables, figures, sentences and on the page."""

from training.results.effect_sizes import EffectSize
from training.results.summaries import Summary

NOTHING = "n/a"


def count_in_words(count: int) -> str:
    """A parameter count: 4.87 M, 812 k."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {unit}" if count < 100 * size else f"{count / size:.0f} {unit}"
    return str(count)


def show_p(p_value: float | None) -> str:
    """A p-value with two or three digits, never rounded to zero."""
    if p_value is None:
        return NOTHING
    if p_value >= 0.001:
        return f"{p_value:.3g}"
    mantissa, _, exponent = f"{p_value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def show_mean(summary: Summary) -> str:
    """Mean and half-width of the interval; the mean alone for one seed."""
    reach = summary.half_width
    # Narrow intervals get another digit rather than ± 0.000.
    digits = 4 if reach is not None and 0 < reach < 0.001 else 3
    return f"{summary.mean:.{digits}f}" + (f" ± {reach:.{digits}f}" if reach is not None else "")


def show_interval(ends: tuple[float, float]) -> str:
    """The interval of a difference, with signs."""
    return f"{ends[0]:+.3f} to {ends[1]:+.3f}"


def show_effect(effect: EffectSize) -> str:
    """Hedges' g with its interval."""
    shown = f"{effect.hedges_g:.1f}"
    return shown if effect.low is None else f"{shown} [{effect.low:.1f}, {effect.high:.1f}]"


def show_compression(compression: float) -> str:
    """How a model's size compares with that of a plain transformer."""
    if 0.995 <= compression < 1.005:
        return "1"
    return f"{compression:.3g}x smaller" if compression > 1 else f"{1 / compression:.3g}x larger"
