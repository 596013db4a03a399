"""What a generated text is handed out as: pieces of whole characters, and what the model thought of every byte."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, overload

import numpy as np

from tipshare.text.utf8 import complete_length

Finish = Literal["length", "stop"]


class ByteInfo(NamedTuple):
    """One written byte in the eyes of the model, before temperature and cut-offs."""

    byte: int
    probability: float
    rank: int  # 1 for the most probable byte
    alternatives: tuple[tuple[int, float], ...]  # the most probable bytes and their probabilities, best first


@dataclass(frozen=True)
class Trace(Sequence[ByteInfo]):
    """The written bytes with their probabilities; a sequence of `ByteInfo`, kept as arrays.

    Attributes:
        data: The bytes.
        probabilities: Of each byte, under the model itself.
        ranks: Of each byte, 1 for the most probable.
        alternatives: {byte, alternative}: the most probable bytes at each place, best first.
        alternative_probabilities: The same for their probabilities.
    """

    data: bytes
    probabilities: np.ndarray
    ranks: np.ndarray
    alternatives: np.ndarray
    alternative_probabilities: np.ndarray

    def __len__(self) -> int:
        return len(self.data)

    @overload
    def __getitem__(self, index: int) -> ByteInfo: ...

    @overload
    def __getitem__(self, index: slice) -> "Trace": ...

    def __getitem__(self, index: int | slice) -> "ByteInfo | Trace":
        parts = (self.probabilities, self.ranks, self.alternatives, self.alternative_probabilities)
        if isinstance(index, slice):
            return Trace(self.data[index], *(part[index] for part in parts))
        probability, rank, alternatives, probabilities = (part[index] for part in parts)
        pairs = tuple(zip(alternatives.tolist(), probabilities.tolist(), strict=True))
        return ByteInfo(self.data[index], float(probability), int(rank), pairs)

    @staticmethod
    def join(traces: Sequence["Trace"]) -> "Trace":
        """One trace after the other; at least one."""
        names = ("probabilities", "ranks", "alternatives", "alternative_probabilities")
        arrays = (np.concatenate([getattr(trace, name) for trace in traces]) for name in names)
        return Trace(b"".join(trace.data for trace in traces), *arrays)

    @staticmethod
    def empty(alternatives: int) -> "Trace":
        nothing = np.zeros((0, alternatives))
        return Trace(b"", np.zeros(0), np.zeros(0, np.int64), nothing.astype(np.int64), nothing)


@dataclass(frozen=True)
class Piece:
    """A few characters as they were written.

    Attributes:
        text: Whole characters; the pieces of a stream joined are the generated text.
        trace: The bytes of `text`.
        finish: None but on the last piece: `length` when all bytes asked for are written, `stop` at a stop text.
    """

    text: str
    trace: Trace
    finish: Finish | None = None


@dataclass(frozen=True)
class Generation:
    """A finished text.

    Attributes:
        text: What was written after the prompt; never holds the stop text.
        trace: The bytes of `text`, each with its probability, its rank and the alternatives.
        finish: `length` when all bytes asked for are written, `stop` at a stop text.
        unread_bytes: How many bytes at the front of the prompt lay outside the context and were not read.
    """

    text: str
    trace: Trace
    finish: Finish
    unread_bytes: int

    def __str__(self) -> str:
        return self.text


class Assembler:
    """Cuts a growing byte string into pieces: holds back unfinished characters and what may become a stop text."""

    def __init__(self, limit: int, stops: Sequence[bytes], *, whole_characters: bool, alternatives: int):
        self._left = limit
        self._stops = tuple(stops)
        self._whole_characters = whole_characters
        self._held = Trace.empty(alternatives)
        self.finish: Finish | None = None

    def add(self, trace: Trace) -> Piece | None:
        """The next piece, if one is complete; bytes after the end are ignored."""
        if self.finish is not None:
            return None
        trace = trace[: self._left]
        self._left -= len(trace)
        self._held = Trace.join([self._held, trace])
        data = self._held.data
        cuts = [data.find(stop) for stop in self._stops]
        found = [cut for cut in cuts if cut >= 0]
        if found:
            self.finish, end = "stop", min(found)
            # A stop text given as bytes may cut a character in two.
            end = complete_length(data[:end]) if self._whole_characters else end
        elif self._left == 0:
            self.finish, end = "length", len(data)
        else:
            end = min(complete_length(data), len(data) - _overlap(data, self._stops))
        released, self._held = self._held[:end], self._held[end:]
        if not len(released) and self.finish is None:
            return None
        return Piece(released.data.decode("utf-8", errors="replace"), released, self.finish)


def join_pieces(pieces: Iterator[Piece], unread_bytes: int) -> Generation:
    """All pieces of one stream as a finished text."""
    whole = list(pieces)
    finish = whole[-1].finish
    if finish is None:
        raise ValueError("the last piece does not end the text")
    return Generation(
        "".join(piece.text for piece in whole), Trace.join([piece.trace for piece in whole]), finish, unread_bytes
    )


def _overlap(data: bytes, stops: Sequence[bytes]) -> int:
    """How many bytes at the end of `data` may be the beginning of a stop text."""
    longest = max((len(stop) for stop in stops), default=1) - 1
    for size in range(min(longest, len(data)), 0, -1):
        if any(stop.startswith(data[-size:]) for stop in stops):
            return size
    return 0
