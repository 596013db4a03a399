"""The files that let `transformers` load our byte tokenizer, written without importing it."""

from typing import Any

from tipshare.checkpoint.layout import GENERATION_CONFIG, TOKENIZER, TOKENIZER_CONFIG
from tipshare.checkpoint.strict_json import dump_json
from tipshare.config import ModelConfig
from tipshare.text.tokenizer import VOCAB_SIZE, byte_symbols

# The parts of `tokens.to_transformers()` as its file writes them; a test compares the two.
_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
_BYTE_LEVEL_DECODER = {**_BYTE_LEVEL, "add_prefix_space": True, "use_regex": True}


def describe_files(config: ModelConfig) -> dict[str, bytes]:
    """The content of each file by its name; none for a model whose vocabulary cannot hold all bytes."""
    generation = {"max_length": config.max_position_embeddings, "do_sample": True, "temperature": 0.8, "top_p": 0.95}
    files = {GENERATION_CONFIG: dump_json(generation)}
    if config.vocab_size >= VOCAB_SIZE:
        files[TOKENIZER] = dump_json(describe_tokenizer())
        files[TOKENIZER_CONFIG] = dump_json(
            {
                "backend": "tokenizers",
                "tokenizer_class": "PreTrainedTokenizerFast",
                "model_max_length": config.max_position_embeddings,
                "clean_up_tokenization_spaces": False,
            }
        )
    return files


def describe_tokenizer() -> dict[str, Any]:
    """tokenizer.json: a byte-level BPE without merges, whose ids are the byte values."""
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {symbol: byte for byte, symbol in enumerate(byte_symbols())},
        "merges": [],
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": _BYTE_LEVEL,
        "post_processor": None,
        "decoder": _BYTE_LEVEL_DECODER,
        "model": model,
    }
