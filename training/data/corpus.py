"""Corpora: texts as bytes in splits for training, validation and testing, and windows of them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tipshare.text.tokenizer import BYTES, Tokenizer
from training.data.sources import HUB_TEXTS, builtin_text, fetch_hub_text, find_local_text

CORPORA = (*HUB_TEXTS, "builtin")
# Shares of a single text by position, first to last; Shakespeare's are those of nanoGPT.
SHARES = {"train": 0.9, "valid": 0.05, "test": 0.05}
SHAKESPEARE_SHARES = {"train": 0.9, "valid": 0.1}


@dataclass(frozen=True)
class Corpus:
    """A text in splits.

    Attributes:
        splits: Token ids of each split.
        sha256: Digest of each split's bytes.
        tokenizer: What the ids are ids of.
    """

    name: str
    splits: dict[str, np.ndarray]
    sha256: dict[str, str]
    tokenizer: Tokenizer = BYTES

    def split(self, name: str) -> np.ndarray:
        """The bytes of a split; an unknown name is an error that lists the splits."""
        if name not in self.splits:
            raise ValueError(f"corpus {self.name} has no split {name!r}; it has {', '.join(self.splits)}")
        return self.splits[name]

    def describe(self) -> dict[str, dict[str, int | str]]:
        """Size and digest of every split, for a record."""
        return {
            name: {"bytes": self.tokenizer.count_bytes(ids), "sha256": self.sha256[name]}
            for name, ids in self.splits.items()
        }

    def check_length(self, length: int) -> None:
        """Raise ValueError unless every split holds a window of `length` bytes and the byte after it."""
        for name, data in self.splits.items():
            if len(data) < length + 1:
                raise ValueError(
                    f"corpus {self.name}, split {name}: {len(data)} bytes are fewer than one window of {length} + 1; "
                    "use a longer text or a shorter window (--set length=...)"
                )

    def windows(self, split: str, seed: int, step: int, batch: int, length: int) -> np.ndarray:
        """`batch` windows of `length + 1` bytes for one training step.

        A pure function of its arguments: every model sees the same windows, and a resumed run needs no iterator.
        """
        data = self.split(split)
        starts = np.random.default_rng([seed, step]).integers(0, len(data) - length, batch)
        return _cut(data, starts, length)

    def evaluation_windows(self, split: str, count: int, length: int) -> np.ndarray:
        """`count` windows of `length + 1` bytes, evenly spread over a split: the same for every seed and model.

        Fewer if the split is too short for that many without overlap.
        """
        data = self.split(split)
        count = min(count, (len(data) - 1) // length)
        starts = np.arange(count) * (len(data) - 1 - length) // max(count - 1, 1)
        return _cut(data, starts, length)


def _cut(data: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    return data[starts[:, None] + np.arange(length + 1)]


def load_corpus(
    name: str, data_dir: Path | None = None, cache: Path | None = None, tokenizer: Tokenizer = BYTES
) -> Corpus:
    """A named corpus, from the Hub (downloaded once) or built in; or any text in `data_dir` under that name.

    Args:
        data_dir: A folder with train.txt, valid.txt and test.txt, or a single text file.
        cache: Where downloads are kept; the user's cache folder if None.
        tokenizer: That of the models to train.
    """
    if data_dir is None and name not in CORPORA:
        raise ValueError(f"unknown corpus {name!r}; there are {', '.join(CORPORA)}, or any text through --data-dir")
    if data_dir is None and name == "builtin":
        texts = {"all": np.frombuffer(builtin_text(), np.uint8)}
    else:
        paths = find_local_text(data_dir) if data_dir is not None else fetch_hub_text(name, cache)
        texts = {part: _read_file(path) for part, path in paths.items()}
    return make_corpus(name, texts, tokenizer)


def make_corpus(name: str, texts: dict[str, np.ndarray], tokenizer: Tokenizer = BYTES) -> Corpus:
    """A corpus of the bytes of each split, or of one text, called `all`, that is split by position."""
    if "all" in texts:
        texts = _split(texts["all"], SHAKESPEARE_SHARES if name == "shakespeare" else SHARES)
    for split, data in texts.items():
        if not data.size:
            raise ValueError(f"corpus {name}: its text is so short that nothing is left for {split}; use a longer one")
    sha256 = {split: hashlib.sha256(data.data).hexdigest() for split, data in texts.items()}
    return Corpus(name, {split: tokenizer.encode_array(data) for split, data in texts.items()}, sha256, tokenizer)


def _read_file(path: Path) -> np.ndarray:
    """The bytes of a file, in memory: a mapped one that is cut while a run trains would end the process."""
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file: a corpus is a text file")
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    if not data.size:
        raise ValueError(f"{path} is empty: a corpus needs text")
    return data


def _split(data: np.ndarray, shares: dict[str, float]) -> dict[str, np.ndarray]:
    """Consecutive parts of a text; the last one takes the remainder of rounding down."""
    ends = [*(np.cumsum(list(shares.values()))[:-1] * len(data)).astype(int), len(data)]
    starts = [0, *ends[:-1]]
    return {name: data[start:end] for name, start, end in zip(shares, starts, ends, strict=True)}
