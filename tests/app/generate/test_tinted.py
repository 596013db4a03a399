"""Text as HTML: nothing a model writes becomes markup, and every byte keeps its odds."""

import html
import re

import pytest

from app.generate.tinted import STEPS, bits_of, escape, tint_of, tint_text
from tipshare.generation.pieces import ByteInfo


def infos(text: str, probability: float = 0.5) -> list[ByteInfo]:
    return [ByteInfo(byte, probability, 1, ((byte, probability), (32, 0.25))) for byte in text.encode()]


def shown_text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.mark.parametrize(
    "text", ["plain", "<script>alert(1)</script>", "a & b", '"quoted"', "{{value}} ${1+1} `x` \\n"]
)
def test_text_stays_text(text):
    assert html.unescape(escape(text)) == text
    assert not set("<>{}$`\\\"'") & set(escape(text))
    assert shown_text(tint_text(text, infos(text))) == text


def test_a_character_of_several_bytes_is_one_element_with_the_odds_of_each():
    markup = tint_text("é😀", infos("é😀"))
    assert re.findall(r"<b ", markup) == ["<b ", "<b "]
    first, second = re.findall(r'data-o="([^"]*)"', markup)
    assert [len(first.split(";")), len(second.split(";"))] == [2, 4]
    assert first.split(";")[0] == "195 0.5 1 195:0.5 32:0.25"


def test_control_characters_are_made_visible():
    assert shown_text(tint_text("\x00\x07\x7f", infos("\x00\x07\x7f"))) == "␀␇␡"
    assert 'class="t2 nl"' in tint_text("\n", infos("\n"))


def test_the_tint_grows_with_the_surprise():
    assert [tint_of(bits) for bits in STEPS] == list(range(len(STEPS)))
    assert tint_of(0.49) == 0
    assert tint_of(1000) == len(STEPS) - 1
    assert bits_of(0.25) == 2.0
    assert tint_of(bits_of(0.0)) == len(STEPS) - 1


def test_the_markup_only_grows_at_its_end():
    whole = tint_text("abcdef", infos("abcdef"))
    assert whole == tint_text("abc", infos("abc")) + tint_text("def", infos("def"))
