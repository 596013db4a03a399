"""A text whose bytes are buttons, tinted by how much a prediction depends on each of them."""

import html

import numpy as np

from tipshare.analysis import Sensitivity
from tipshare.analysis.inspection import byte_name


def tint_bytes(ids: np.ndarray, sensed: Sensitivity) -> str:
    """The HTML of all positions of a text; those after the prediction are not tinted.

    Args:
        ids: What stands at every position; the begin token first.
    """
    strongest = float(sensed.shares.max()) or 1.0
    pieces = []
    for place, shown in enumerate(_shown(ids)):
        names, tint, title = [], "", f"byte {place}: {byte_name(int(ids[place]))}"
        if place < len(sensed.shares):
            tint = f' style="--share:{sensed.shares[place] / strongest:.3f}"'
            title += f", {sensed.shares[place]:.1%} of the sensitivity, exponent {sensed.exponents[place]:.2f}"
        else:
            names.append("later")
        if place == sensed.place:
            names.append("chosen")
        pressed = "true" if place == sensed.place else "false"
        pieces.append(
            f'<button type="button" class="{" ".join(names)}" data-place="{place}" aria-pressed="{pressed}"{tint} '
            f'title="{html.escape(title)}">{html.escape(shown)}</button>'
        )
    return f'<div class="sensed" role="group" aria-label="Bytes of the text">{"".join(pieces)}</div>'


def _shown(ids: np.ndarray) -> list[str]:
    """What the button of each byte says: its character, or a dot for the later bytes of one."""
    data = bytes(int(each) for each in ids)
    try:
        characters = data.decode()
    except UnicodeDecodeError:
        characters = data.decode("latin-1").encode("ascii", "replace").decode()
    shown: list[str] = []
    for character in characters:
        shown.append({"\n": "\u21b5", " ": "\u2423", "\t": "\u21e5"}.get(character, character))
        shown += ["\u00b7"] * (len(character.encode()) - 1)
    return shown
