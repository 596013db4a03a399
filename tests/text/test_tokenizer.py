"""Bytes in, bytes out, here and in `transformers`; and what a model reads of a text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipshare.text.tokenizer import BYTES

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
    ids = BYTES.encode(text)
    assert BYTES.decode(ids) == text
    assert BYTES.count_characters(ids) == len(text)
    assert BYTES.count_bytes(ids) == len(text.encode())


@given(st.binary())
def test_any_bytes_survive(data):
    assert BYTES.decode_bytes(BYTES.encode(data)) == data


def test_ids_are_the_bytes():
    np.testing.assert_array_equal(BYTES.encode("aé"), [97, 0xC3, 0xA9])
    assert BYTES.decode([0xFF, 97]) == "\ufffda"
    assert (BYTES.size, BYTES.dtype) == (256, np.uint8)


def test_bad_ids_and_texts_are_refused():
    with pytest.raises(ValueError, match=r"byte ids are integers in 0 \.\. 255"):
        BYTES.decode([256])
    with pytest.raises(ValueError, match="float64"):
        BYTES.decode([1.5])
    with pytest.raises(ValueError, match="lone surrogate at character 1"):
        BYTES.encode("a\ud800")


@pytest.mark.parametrize(
    ("text", "read", "unread"),
    [("", "\n", 0), ("abc", "\nabc", 0), ("abcd", "abcd", 0), ("abcdef", "cdef", 2)],
)
def test_a_model_reads_the_begin_token_and_the_end_of_a_text(text, read, unread):
    ids, left_out = BYTES.read_end(text, context=4)
    assert (BYTES.decode(ids), left_out) == (read, unread)
    assert ids.dtype == np.int32


def test_long_texts_are_not_copied():
    data = np.arange(10, dtype=np.uint8)
    assert BYTES.encode_array(data) is data


@pytest.fixture(scope="module")
def fast():
    return BYTES.to_transformers(context=128)


@pytest.mark.parametrize("text", SAMPLES)
def test_the_fast_tokenizer_gives_the_same_ids(fast, text):
    ids = fast(text)["input_ids"]
    np.testing.assert_array_equal(ids, BYTES.encode(text))
    assert fast.decode(ids) == text


def test_the_fast_tokenizer_has_one_id_per_byte(fast, tmp_path):
    assert len(fast) == fast.vocab_size == 256
    assert fast.model_max_length == 128
    every_byte = bytes(range(128)).decode() + "".join(chr(c) for c in range(0x80, 0x800))
    np.testing.assert_array_equal(fast(every_byte)["input_ids"], BYTES.encode(every_byte))
    from transformers import AutoTokenizer

    fast.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again.decode(again("a b , c")["input_ids"]) == "a b , c"
