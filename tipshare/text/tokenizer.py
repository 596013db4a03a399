"""Text as token ids. A `Tokenizer` owns both directions, the size of the vocabulary and the token texts begin with.

Code that handles text asks `model.tokenizer` or `config.tokenizer`. All models so far read bytes, through `BYTES`;
another tokenizer is another subclass, which says what bytes each id stands for and how a text is cut into ids.
"""

import abc
import functools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tipshare.text.utf8 import token_tables

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

Ids = Sequence[int] | np.ndarray


class Tokenizer(abc.ABC):
    """Text to token ids and back.

    Attributes:
        pieces: The bytes that each id stands for. Every single byte has an id of its own, so that any text has ids.
        begin: The id that every text begins with, when it is scored and when it is continued.
        unit: What messages call a token.
    """

    pieces: tuple[bytes, ...]
    begin: int
    unit: str = "token"

    @abc.abstractmethod
    def encode(self, text: str | bytes) -> np.ndarray:
        """The ids of a text, as int32."""

    @abc.abstractmethod
    def to_file(self) -> dict[str, Any]:
        """tokenizer.json: the same tokenizer as the `tokenizers` library reads it."""

    @property
    def size(self) -> int:
        """How many ids there are."""
        return len(self.pieces)

    @property
    def dtype(self) -> np.dtype:
        """The smallest type that holds every id: that of long texts in memory and of training windows."""
        return np.min_scalar_type(self.size - 1)

    def encode_array(self, data: np.ndarray) -> np.ndarray:
        """The ids of a long text given as an array of bytes, in `dtype`."""
        return self.encode(data.tobytes()).astype(self.dtype)

    def decode_bytes(self, ids: Ids) -> bytes:
        """The bytes that `ids` stand for."""
        return b"".join(self.pieces[each] for each in self._check_ids(ids))

    def decode(self, ids: Ids) -> str:
        """The text that `ids` stand for; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    def read_end(self, text: str | bytes, context: int) -> tuple[np.ndarray, int]:
        """What a model reads of a text, and how many ids at its front it does not.

        The begin token and the text; if these are longer than the context, the last `context` ids.
        """
        ids = self.encode(text)
        return np.concatenate([[self.begin], ids]).astype(np.int32)[-context:], max(0, len(ids) - context)

    def check_fits(self, vocab_size: int) -> Self:
        """This tokenizer, or a ValueError if a model has fewer ids."""
        if vocab_size < self.size:
            raise ValueError(f"the model has {vocab_size} token ids; text needs {self.size}, one per {self.unit}")
        return self

    def count_bytes(self, ids: np.ndarray) -> int:
        """Bytes that `ids` stand for."""
        return int(self.lengths[ids].sum())

    def count_characters(self, ids: np.ndarray) -> int:
        """UTF-8 characters that start in these ids."""
        return int(self._character_starts[ids].sum())

    @functools.cached_property
    def utf8_tables(self) -> tuple[np.ndarray, np.ndarray]:
        """See `tipshare.text.utf8.token_tables`."""
        return token_tables(self.pieces)

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        """The number of bytes of every id."""
        return np.array([len(piece) for piece in self.pieces], np.uint16)

    @functools.cached_property
    def _character_starts(self) -> np.ndarray:
        return np.array([sum(byte & 0xC0 != 0x80 for byte in piece) for piece in self.pieces], np.uint16)

    def to_transformers(self, context: int | None = None) -> "PreTrainedTokenizerFast":
        """The same tokenizer as a `transformers` fast tokenizer.

        Args:
            context: The model's context, kept as `model_max_length`.
        """
        import tokenizers
        from transformers import PreTrainedTokenizerFast

        fast = tokenizers.Tokenizer.from_str(json.dumps(self.to_file()))
        limits = {} if context is None else {"model_max_length": context}
        # Spaces before punctuation are part of the text: the default clean-up would lose them.
        return PreTrainedTokenizerFast(tokenizer_object=fast, clean_up_tokenization_spaces=False, **limits)

    def _check_ids(self, ids: Ids) -> np.ndarray:
        ids = np.asarray(ids)
        if not ids.size:
            return ids.astype(self.dtype)
        if not np.issubdtype(ids.dtype, np.integer) or ids.min() < 0 or ids.max() >= self.size:
            found = f"{ids.dtype} from {ids.min()} to {ids.max()}"
            raise ValueError(f"{self.unit} ids are integers in 0 .. {self.size - 1}, not {found}")
        return ids


class ByteTokenizer(Tokenizer):
    """256 ids, one per byte value: lossless on any text."""

    pieces = tuple(bytes([byte]) for byte in range(256))
    begin = ord("\n")  # as if a line had just ended
    unit = "byte"

    def encode(self, text: str | bytes) -> np.ndarray:
        return np.frombuffer(to_bytes(text), dtype=self.dtype).astype(np.int32)

    def encode_array(self, data: np.ndarray) -> np.ndarray:
        return data  # a file mapped into memory stays there

    def count_bytes(self, ids: np.ndarray) -> int:
        return ids.size

    def decode_bytes(self, ids: Ids) -> bytes:
        return self._check_ids(ids).astype(self.dtype).tobytes()

    def to_file(self) -> dict[str, Any]:
        """A byte-level BPE without merges."""
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": None,
            "decoder": {**byte_level, "add_prefix_space": True, "use_regex": True},
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": False,
                "vocab": {symbol: byte for byte, symbol in enumerate(_byte_symbols())},
                "merges": [],
            },
        }


BYTES = ByteTokenizer()


def to_bytes(text: str | bytes) -> bytes:
    """A text as UTF-8; bytes stay as they are."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text has a lone surrogate at character {error.start}, which UTF-8 cannot hold: pass bytes instead"
        ) from error


def _byte_symbols() -> list[str]:
    """The printable character that byte-level BPE (GPT-2) writes for each byte, in byte order.

    Printable Latin-1 characters stand for themselves; the others are numbered from U+0100 on.
    """
    symbols, moved = [], 0
    for byte in range(256):
        printable = 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE
        symbols.append(chr(byte) if printable else chr(0x100 + moved))
        moved += not printable
    return symbols
