"""The figure of a model card: what every gate does along depth."""

import importlib.util
from pathlib import Path

import numpy as np

from tipshare.analysis.units import unit_values
from tipshare.model.language_model import LanguageModel

DEPTH_STEPS = 33


def draw_gates(model: LanguageModel, path: Path) -> bool:
    """Draw the mean and the middle 90 % of every gate's units over t; False without gates or without matplotlib."""
    if model.config.weights != "gated" or importlib.util.find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure

    units = unit_values(model, DEPTH_STEPS)
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, values in units.values.items():
        low, high = np.percentile(values, [5, 95], axis=1)
        (line,) = axes.plot(units.t, values.mean(axis=1), label=name)
        axes.fill_between(units.t, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.set(xlabel="depth t", ylabel="gate", xlim=(0, 1))
    axes.legend(fontsize="small", ncols=2)
    # Without the version of the library in it, the same gates give the same file.
    figure.savefig(path, format="png", dpi=150, metadata={"Software": None})
    return True
