"""Text as HTML: each character tinted by its surprise under the model, with the probabilities of its bytes.

The HTML of a text only grows at its end, so that only the new part is sent while a text streams.
"""

import html
import math
from collections.abc import Sequence

from tipshare.generation.pieces import ByteInfo

# A character falls into tint i if its bytes took at least STEPS[i] bits each, on average.
STEPS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
# For a probability of 0: more than -log2 of the smallest positive float32.
MOST_BITS = 150.0


def escape(text: str) -> str:
    """Escape a text for HTML and for the templates of Gradio's HTML component."""
    return "".join(_ENTITIES.get(each, each) for each in html.escape(text))


# These characters have a meaning in templates.
_ENTITIES = {each: f"&#{ord(each)};" for each in "{}$`\\"}


def bits_of(probability: float) -> float:
    """Surprise: -log2 of a probability."""
    return min(-math.log2(probability), MOST_BITS) if probability > 0 else MOST_BITS


def tint_of(bits: float) -> int:
    """The number of the tint for a surprise, 0 for none."""
    return max(number for number, least in enumerate(STEPS) if bits >= least or number == 0)


def tint_text(text: str, infos: Sequence[ByteInfo]) -> str:
    """The HTML of a text, character by character.

    Args:
        infos: One for every byte of the text's UTF-8 form; a rank of 0 and no alternatives if those are not known.
    """
    pieces, done = [], 0
    for character in text:
        size = len(character.encode())
        pieces.append(_tinted(character, infos[done : done + size]))
        done += size
    return "".join(pieces)


def _tinted(character: str, infos: Sequence[ByteInfo]) -> str:
    bits = sum(bits_of(info.probability) for info in infos) / len(infos)
    names = f"t{tint_of(bits)}" + (" nl" if character == "\n" else "")
    probabilities = ";".join(_probabilities(info) for info in infos)
    return f'<b class="{names}" data-o="{probabilities}">{escape(_visible(character))}</b>'


def _probabilities(info: ByteInfo) -> str:
    """Byte, probability, rank, and the alternatives, as the page's script reads them."""
    alternatives = "".join(f" {byte}:{probability:.3g}" for byte, probability in info.alternatives)
    return f"{info.byte} {info.probability:.3g} {info.rank}{alternatives}"


def _visible(character: str) -> str:
    """The character, or the symbol of a control character, which browsers do not show."""
    code = ord(character)
    if character in "\n\t":
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else character
