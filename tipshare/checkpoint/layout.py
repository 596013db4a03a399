"""The files of a checkpoint folder, the same on disk and on the Hub, and the error that a bad one raises.

config.json              what the model is; `format_version` says how to read the rest
model.safetensors        the weights; above 90 MB as model-00001-of-00003.safetensors, ... with
model.safetensors.index.json   the file of every tensor
record.json              the run that made the weights, if there was one
checksums.json           size and sha256 of the files above, which are all that loading reads
tokenizer.json, tokenizer_config.json, generation_config.json   for `transformers`
README.md, gates.png     the model card

An adapter folder (`tipshare.adapters`) has adapter_config.json and adapter_model.safetensors instead of config and
weights, and no tokenizer: its base has one.
"""

import re


class CheckpointError(ValueError):
    """A checkpoint that cannot be trusted or found; the message names the file, the reason and the way out."""


FORMAT = "tipshare"
FORMAT_VERSION = 1

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
CHECKSUMS = "checksums.json"
RECORD = "record.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
GENERATION_CONFIG = "generation_config.json"
CARD = "README.md"
FIGURE = "gates.png"
ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"

SHARD_NAME = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")

# What is uploaded and downloaded; other files in a folder or a repository are left alone.
DATA_FILES = (CONFIG, CHECKSUMS, RECORD, TOKENIZER, TOKENIZER_CONFIG, GENERATION_CONFIG, ADAPTER_CONFIG)
PATTERNS = (WEIGHTS, ADAPTER_WEIGHTS, "model-?????-of-?????.safetensors", INDEX, *DATA_FILES, CARD, FIGURE)

# Larger weights are split, so that each file stays below the limits of common Git hosts.
LARGEST_SHARD = 90 * 10**6
# JSON files of a checkpoint hold names, shapes and curves, which need far less than this.
LARGEST_JSON = 16 * 2**20


def is_weights_file(name: str) -> bool:
    """Whether a file name is one that weights or their index can have."""
    return name in (WEIGHTS, INDEX, ADAPTER_WEIGHTS) or SHARD_NAME.fullmatch(name) is not None


def is_checkpoint_file(name: str) -> bool:
    """Whether a file name is one that saving or pushing may write, and so may delete."""
    return name in (*DATA_FILES, CARD, FIGURE) or is_weights_file(name)
