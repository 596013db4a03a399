"""Another tokenizer is another class: the rest of the code follows it without a change."""

import json
import math

import equinox as eqx
import numpy as np
import pytest
import tokenizers

from tests.factories import SMALL, fill
from tipshare import ModelConfig, TimeIndexedMlpConfig, analysis, generate, stream
from tipshare.checkpoint.tokenizer_files import describe_files
from tipshare.text.tokenizer import BYTES, Tokenizer, to_bytes
from training.engine.evaluation import Evaluator

# Longer tokens: of letters, of a whole character, of a part of one, and across the end of one.
MERGES = [b"th", b"the", "é".encode(), b"\xe2\x82", b"\xa9\xe2", b", "]


class Merged(Tokenizer):
    """A byte-level BPE as the `tokenizers` library reads it from a file."""

    begin = ord("\n")

    def __init__(self) -> None:
        symbols = {byte: symbol for symbol, byte in BYTES.to_file()["model"]["vocab"].items()}

        def symbol(piece: bytes) -> str:
            return "".join(symbols[byte] for byte in piece)

        self.pieces = (*BYTES.pieces, *MERGES)
        self._file = BYTES.to_file()
        self._file["model"]["vocab"] = {symbol(piece): number for number, piece in enumerate(self.pieces)}
        self._file["model"]["merges"] = [[symbol(piece[:-1]), symbol(piece[-1:])] for piece in MERGES]
        self._fast = tokenizers.Tokenizer.from_str(json.dumps(self._file))

    def encode(self, text: str | bytes) -> np.ndarray:
        return np.array(self._fast.encode(to_bytes(text).decode()).ids, np.int32)

    def to_file(self) -> dict:
        return self._file


CONFIG = TimeIndexedMlpConfig(**{**SMALL, "vocab_size": 256 + len(MERGES)})
TEXT = "the é, then € and more of the text"


@pytest.fixture
def model(monkeypatch):
    tokenizer = Merged()
    monkeypatch.setattr(ModelConfig, "tokenizer", property(lambda _: tokenizer))
    return fill(CONFIG)


def test_ids_may_stand_for_several_bytes(model):
    tokenizer = model.tokenizer
    ids = tokenizer.encode(TEXT)
    assert len(ids) < len(TEXT.encode())
    assert tokenizer.decode(ids) == TEXT
    assert (tokenizer.count_bytes(ids), tokenizer.count_characters(ids)) == (len(TEXT.encode()), len(TEXT))
    assert tokenizer.dtype == np.uint16
    np.testing.assert_array_equal(tokenizer.encode_array(np.frombuffer(TEXT.encode(), np.uint8)), ids)
    assert "tokenizer.json" in describe_files(CONFIG)
    with pytest.raises(ValueError, match="has 256 token ids; text needs 262, one per token"):
        fill(CONFIG.replace(vocab_size=256)).score("a")


def test_scores_divide_by_bytes_where_they_say_so(model):
    found = model.score(TEXT)
    tokens, data = len(model.tokenizer.encode(TEXT)), len(TEXT.encode())
    assert found.log_probs.size == tokens < data == found.num_bytes
    assert found.loss * tokens == pytest.approx(found.bits_per_byte * math.log(2) * data)
    parameters, static = eqx.partition(model, eqx.is_array)
    ids = model.tokenizer.encode_array(np.frombuffer(TEXT.encode(), np.uint8))
    whole = Evaluator(static).on_split(parameters, ids, 12)
    assert whole.bits_per_byte == pytest.approx(model.score(TEXT, stride=12).bits_per_byte, abs=1e-6)


def test_generated_text_is_made_of_the_tokens(model):
    longer = 0
    for seed in range(4):
        written = generate(model, "the", max_bytes=40, temperature=3.0, seed=seed)
        assert len(written.trace) == 40
        assert written.trace.data == written.text.encode() == model.tokenizer.decode_bytes(written.trace.ids)
        pieces = list(stream(model, "the", max_bytes=40, temperature=3.0, seed=seed, chunk=3))
        assert "".join(piece.text for piece in pieces) == written.text
        longer += int((written.trace.ids >= 256).sum())
        stop = written.text[5:7]
        stopped = generate(model, "the", max_bytes=40, temperature=3.0, seed=seed, stop=stop)
        assert stopped.text == written.text[: written.text.index(stop)]
    assert longer


def test_the_hidden_path_reads_the_tokens(model):
    path = analysis.hidden_path(model, TEXT)
    assert path.unread == len(model.tokenizer.encode(TEXT)) - 12
