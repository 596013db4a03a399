"""What the Gates tab sees, in sentences computed from the arrays. Everything is escaped, ready for HTML."""

import html

import numpy as np

from app.gates.arrays import NAMES, DepthViews
from app.shelf import Entry
from tipshare.analysis import HiddenPath, UnitValues

# Below this share of the model's own mean, a move along depth is called next to nothing.
STILL = 0.01


def finding(*sentences: str) -> str:
    """Sentences as one paragraph of the page."""
    return f'<p class="finding">{" ".join(each for each in sentences if each)}</p>'


def what_is_shown(entry: Entry) -> str:
    """Which numbers stand for a model: gates, or what it has in their place."""
    label = _label(entry)
    match entry.config.weights:
        case "gated":
            return ""
        case "generated":
            source = "its weights are generated from t"
        case "tied":
            source = "all depths use the same weights"
        case "own-generated":
            source = "every layer generates weights of its own"
        case _:
            source = "every layer has weights of its own"
    return (
        f"{label} has no gates: {source}. Shown instead is how long each unit's weights are at each depth, where 1 is "
        "the unit's mean along depth."
    )


def gates_in_words(entry: Entry, units: UnitValues, name: str) -> str:
    """Where the units of a place change most, how far, and between which values they lie."""
    if name not in units.names:
        return f"{_label(entry)} has no <em>{NAMES.get(name, html.escape(name))}</em>; it has {_list(units)}."
    values = units.of(name)
    what = f"Gates of <em>{NAMES[name]}</em>" if units.are_gates else f"Weights of <em>{NAMES[name]}</em>"
    subject = f"{what} in {_label(entry)}"
    low, high = np.percentile(values, [10, 90])
    spread = f"Eight units in ten lie between {low:.2f} and {high:.2f}."
    if len(units.t) < 2:
        return f"{subject} have one depth step, so nothing can change along depth. {spread}"
    change = units.change(name)
    if change.max() < 1e-6:
        return f"{subject} are the same at every depth. {spread}"
    most = int(np.argmax(change))
    still = float(np.mean(np.ptp(values, axis=0) < STILL))
    moved = (
        f"{still:.0%} of the units move by less than {STILL} on the whole way."
        if still >= 0.01
        else f"Every unit moves by more than {STILL} on the way."
    )
    return (
        f"{subject} change most between t = {units.t[most]:.2f} and {units.t[most + 1]:.2f}; the mean change per depth "
        f"step is {_small(change.mean())}. {spread} {moved}"
    )


def scale_in_words(units: UnitValues, colour: str) -> str:
    """What the colours of the heat map mean."""
    if colour == "difference":
        return "Grey is each unit's own mean along depth; blue lies above it, orange below."
    if units.are_gates:
        return f"Grey is {units.unchanged:.2f}, where gates start before training; blue lies above it, orange below."
    return "Grey is 1; blue lies above it, orange below."


def similarity_in_words(entries: list[Entry], views: list[DepthViews], name: str | None) -> str:
    """How alike the weights of different depths are, model by model, from the least alike to the most."""
    found = []
    for entry, view in zip(entries, views, strict=True):
        if name is not None and name not in view.products.names:
            continue
        matrix = view.products.similarity(name)
        others = matrix[~np.eye(len(matrix), dtype=bool)]
        if others.size:
            found.append((float(others.mean()), float(others.min()), entry))
    if not found:
        return "One depth step has nothing to be compared with."
    found.sort(key=lambda each: each[0])
    told = [f"{_label(entry)} {mean:.3f} (lowest {least:.3f})" for mean, least, entry in found]
    what = "all weights together" if name is None else f"<em>{NAMES.get(name, html.escape(name))}</em>"
    return (
        f"Mean cosine similarity between two depth steps, for {what}: {'; '.join(told)}. 1 means the same "
        "weights up to their size, 0 unrelated ones."
    )


def path_in_words(entry: Entry, path: HiddenPath) -> str:
    """When a model's mind is made up, and which depth step moves it most."""
    final = path.bytes[-1, 0]
    wrong = np.flatnonzero(path.bytes[:, 0] != final)
    settled = 0 if not wrong.size else int(wrong[-1]) + 1
    when = "from the embedding on" if settled == 0 else f"from t = {path.t[settled]:.2f} on"
    most = int(np.argmax(path.step_sizes))
    left_out = f" The first {path.unread:,} bytes did not fit into its context." if path.unread else ""
    return (
        f"{_label(entry)} would say <em>{html.escape(byte_label(final))}</em> {when}, in the end with a probability of "
        f"{path.probabilities[-1, 0]:.0%}; the step to t = {path.t[most + 1]:.2f} moves the hidden state most, by "
        f"{path.step_sizes[most]:.1f}.{left_out}"
    )


def byte_label(byte: int) -> str:
    """A byte as a reader sees it: its character, a name for blanks, or two hexadecimal digits."""
    named = {0x20: "space", 0x0A: "newline", 0x09: "tab", 0x0D: "return"}
    if byte in named:
        return named[byte]
    return chr(byte) if 0x20 < byte < 0x7F else f"0x{byte:02X}"


def _label(entry: Entry) -> str:
    return html.escape(entry.label)


def _list(units: UnitValues) -> str:
    return ", ".join(NAMES[name] for name in units.names)


def _small(number: float) -> str:
    return f"{number:.2f}" if number >= 0.01 else f"{number:.2g}"
