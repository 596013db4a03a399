"""Bytes in, bytes out, here and in `transformers`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipshare.text.tokenizer import decode, decode_bytes, encode, to_transformers

SAMPLES = [
    "",
    "plain",
    " leading and  double  spaces ",
    "naïve – “quotes”",
    "日本語",
    "🙂👩‍👩‍👧",
    "\x00\t\r\n",
    "שלום عالم",
    "it 's , a ( test )",
]


@given(st.text())
def test_any_text_survives(text):
    assert decode(encode(text)) == text


@given(st.binary())
def test_any_bytes_survive(data):
    assert decode_bytes(encode(data)) == data


def test_ids_are_the_bytes():
    np.testing.assert_array_equal(encode("aé"), [97, 0xC3, 0xA9])
    assert decode([0xFF, 97]) == "\ufffda"


def test_bad_ids_and_texts_are_refused():
    with pytest.raises(ValueError, match=r"0 \.\. 255"):
        decode([256])
    with pytest.raises(ValueError, match="float64"):
        decode([1.5])
    with pytest.raises(ValueError, match="lone surrogate at character 1"):
        encode("a\ud800")


@pytest.fixture(scope="module")
def fast():
    return to_transformers(context=128)


@pytest.mark.parametrize("text", SAMPLES)
def test_the_fast_tokenizer_gives_the_same_ids(fast, text):
    ids = fast(text)["input_ids"]
    np.testing.assert_array_equal(ids, encode(text))
    assert fast.decode(ids) == text


def test_the_fast_tokenizer_has_one_id_per_byte(fast, tmp_path):
    assert len(fast) == fast.vocab_size == 256
    assert fast.model_max_length == 128
    every_byte = bytes(range(128)).decode() + "".join(chr(c) for c in range(0x80, 0x800))
    np.testing.assert_array_equal(fast(every_byte)["input_ids"], encode(every_byte))
    from transformers import AutoTokenizer

    fast.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again.decode(again("a b , c")["input_ids"]) == "a b , c"
