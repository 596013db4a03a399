"""Text and token ids: tokenizers and UTF-8."""

from tipshare.text.tokenizer import BYTES, Tokenizer, to_bytes

__all__ = ["BYTES", "Tokenizer", "to_bytes"]
