"""Text as HTML: each character tinted by how much it surprised the model, with the odds of its bytes for a closer look.

The HTML only ever grows at its end, so that while a text streams only the new part is sent.
"""

import html
import math
from collections.abc import Sequence

from tipshare.generation.pieces import ByteInfo

# A character falls into tint i if its bytes took at least STEPS[i] bits each, on average.
STEPS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
# Less than the smallest float32 that is not zero: a byte the model ruled out.
MOST_BITS = 150.0


def escape(text: str) -> str:
    """Text that stays text: in HTML, and in the templates of Gradio's HTML component."""
    return "".join(_ENTITIES.get(each, each) for each in html.escape(text))


# Braces, dollar signs and backticks mean something to templates.
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
    odds = ";".join(_odds(info) for info in infos)
    return f'<b class="{names}" data-o="{odds}">{escape(_visible(character))}</b>'


def _odds(info: ByteInfo) -> str:
    """Byte, probability, rank, and the alternatives, as the page's script reads them."""
    alternatives = "".join(f" {byte}:{probability:.3g}" for byte, probability in info.alternatives)
    return f"{info.byte} {info.probability:.3g} {info.rank}{alternatives}"


def _visible(character: str) -> str:
    """The character, or the picture of a control character that browsers would swallow."""
    code = ord(character)
    if character in "\n\t":
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else character
