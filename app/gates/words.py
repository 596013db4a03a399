"""Sentences about the figures of the Gates tab, computed from the arrays and escaped for HTML."""

import html

import numpy as np

from app.gates.arrays import DepthViews
from app.places import NAMES
from app.shelf import Entry
from tipshare.analysis import HiddenPath, UnitValues
from tipshare.analysis.inspection import byte_name
from tipshare.kinds import SOURCES

# A unit whose values along depth differ by less than this is counted as constant.
STILL = 0.01


def what_is_shown(entry: Entry, units: UnitValues) -> str:
    """What is shown of a model without gates; empty for one with gates."""
    if units.are_gates:
        return ""
    source = entry.config.weights
    words = SOURCES[source].sentence if source in SOURCES else f"its weight source is {html.escape(source)}"
    return (
        f"{_label(entry)} has no gates: {words}. Shown instead is the norm of each unit's weights at each depth, "
        "relative to its mean along depth."
    )


def gates_in_words(entry: Entry, units: UnitValues, name: str) -> str:
    """Where along depth the units change most, by how much, and the range of their values."""
    if name not in units.names:
        return f"{_label(entry)} has no <em>{NAMES.get(name, html.escape(name))}</em>; it has {_list(units)}."
    values = units.of(name)
    what = f"Gates of <em>{NAMES[name]}</em>" if units.are_gates else f"Weights of <em>{NAMES[name]}</em>"
    subject = f"{what} in {_label(entry)}"
    low, high = np.percentile(values, [10, 90])
    spread = f"80 % of the values lie between {low:.2f} and {high:.2f}."
    if len(units.t) < 2:
        return f"{subject} have one depth step, so nothing can change along depth. {spread}"
    change = units.change(name)
    if change.max() < 1e-6:
        return f"{subject} are the same at every depth. {spread}"
    most = int(np.argmax(change))
    still = float(np.mean(np.ptp(values, axis=0) < STILL))
    moved = (
        f"{still:.0%} of the units change by less than {STILL} over all depths."
        if still >= 0.01
        else f"Nearly all units change by more than {STILL} over all depths."
    )
    return (
        f"{subject} change most between t = {units.t[most]:.2f} and {units.t[most + 1]:.2f}; the mean change per depth "
        f"step is {_small(change.mean())}. {spread} {moved}"
    )


def scales_in_words(shown: list[UnitValues], colour: str) -> list[str]:
    """The meaning of the heat map's colours, each said once."""
    if colour == "difference":
        return ["Grey is each unit's own mean along depth; blue lies above it, orange below."]
    gates = dict.fromkeys(f"{units.unchanged:.2f}" for units in shown if units.are_gates)
    greys = [f"{value}, where gates start before training" for value in gates]
    if not all(units.are_gates for units in shown):
        greys.append("1, the mean along depth" + (", where there are no gates" if gates else ""))
    passes = ["A gate of 1 lets its unit pass, 0 mutes it."] if gates else []
    return [*passes, f"Grey is {'; or '.join(greys)}. Blue lies above it, orange below."]


def similarity_in_words(entries: list[Entry], views: list[DepthViews], name: str | None) -> str:
    """How far the weights at different depths point apart in every model, from the most to the least."""
    found = []
    for entry, view in zip(entries, views, strict=True):
        if name is not None and name not in view.products.names:
            continue
        matrix = view.products.similarity(name)
        others = matrix[~np.eye(len(matrix), dtype=bool)]
        if others.size:
            found.append((1 - float(others.mean()), 1 - float(others.min()), entry))
    if not found:
        return "With a single depth step there is nothing to compare."
    found.sort(key=lambda each: -each[0])
    told = [f"{_label(entry)} {_small(mean)} (largest {_small(most)})" for mean, most, entry in found]
    what = "all weights together" if name is None else f"<em>{NAMES.get(name, html.escape(name))}</em>"
    return (
        f"Mean of 1 - cosine between the weights of two depth steps, for {what}: {'; '.join(told)}. 0 means the same "
        "weights up to their size, 1 unrelated ones."
    )


def path_in_words(entry: Entry, path: HiddenPath) -> str:
    """From which depth on a model's prediction is final, and which depth step changes the hidden state most."""
    final = path.bytes[-1, 0]
    wrong = np.flatnonzero(path.bytes[:, 0] != final)
    settled = 0 if not wrong.size else int(wrong[-1]) + 1
    when = "from the embedding on" if settled == 0 else f"from t = {path.t[settled]:.2f} on"
    most = int(np.argmax(path.step_sizes))
    left_out = f" The first {path.unread:,} bytes did not fit into its context." if path.unread else ""
    return (
        f"{_label(entry)} predicts <em>{html.escape(byte_label(final))}</em> {when}, in the end with a probability of "
        f"{path.probabilities[-1, 0]:.0%}; the step to t = {path.t[most + 1]:.2f} changes the hidden state most, by "
        f"{path.step_sizes[most]:.1f}.{left_out}"
    )


def byte_label(byte: int) -> str:
    """A byte as a reader sees it: its character, a name for blanks, or two hexadecimal digits."""
    return byte_name(byte).strip("\u201c\u201d")


def _label(entry: Entry) -> str:
    return html.escape(entry.label)


def _list(units: UnitValues) -> str:
    return ", ".join(NAMES[name] for name in units.names)


def _small(number: float) -> str:
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"
