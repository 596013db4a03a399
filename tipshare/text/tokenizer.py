"""Text as bytes: 256 token ids, one per byte value, lossless on any text."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedTokenizerFast

VOCAB_SIZE = 256
# A text begins as if a line had just ended: scoring and generation both start from this byte.
BEGIN = ord("\n")


def encode(text: str | bytes) -> np.ndarray:
    """The UTF-8 bytes of `text` as int32 ids."""
    if isinstance(text, str):
        try:
            text = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the text has a lone surrogate at character {error.start}, which UTF-8 cannot hold: pass bytes instead"
            ) from error
    return np.frombuffer(text, dtype=np.uint8).astype(np.int32)


def decode_bytes(ids: "Sequence[int] | np.ndarray") -> bytes:
    """The bytes that `ids` stand for."""
    ids = np.asarray(ids)
    if ids.size and (not np.issubdtype(ids.dtype, np.integer) or ids.min() < 0 or ids.max() >= VOCAB_SIZE):
        raise ValueError(
            f"byte ids are integers in 0 .. {VOCAB_SIZE - 1}, not {ids.dtype} from {ids.min()} to {ids.max()}"
        )
    return ids.astype(np.uint8).tobytes()


def decode(ids: "Sequence[int] | np.ndarray") -> str:
    """The text that `ids` stand for; bytes that are not UTF-8 become U+FFFD."""
    return decode_bytes(ids).decode("utf-8", errors="replace")


def to_transformers(context: int | None = None) -> "PreTrainedTokenizerFast":
    """The same tokenizer as a `transformers` fast tokenizer, whose ids are the byte values too.

    Args:
        context: The model's context, kept as `model_max_length`.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {symbol: byte for byte, symbol in enumerate(byte_symbols())}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    limits = {} if context is None else {"model_max_length": context}
    # Spaces before punctuation are part of the text: the default clean-up would lose them.
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, clean_up_tokenization_spaces=False, **limits)


def byte_symbols() -> list[str]:
    """The printable character that byte-level BPE (GPT-2) writes for each byte, in byte order.

    Printable Latin-1 characters stand for themselves; the others are numbered from U+0100 on.
    """
    symbols, moved = [], 0
    for byte in range(VOCAB_SIZE):
        printable = 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE
        symbols.append(chr(byte) if printable else chr(0x100 + moved))
        moved += not printable
    return symbols
