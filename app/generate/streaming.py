"""Several models continue one prompt in turns, so that all texts grow at the same time."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import tipshare
from app.generate.settings import WritingRequest
from app.generate.tinted import tint_text
from app.shelf import Entry, ModelShelf
from tipshare.generation.pieces import ByteInfo, Piece

State = Literal["waiting", "loading", "writing", "finished", "stopped"]

# Bytes per turn: small enough that four models seem to write at once.
CHUNK = 16
# Least seconds between two updates of the page; more frequent ones would not be noticed.
UPDATE_EVERY = 0.1
# Browsers take longer to lay out long texts: for every so many bytes of all models, the time above is added again.
BYTES_PER_UPDATE = 2_000


@dataclass
class Column:
    """One model's text as it grows.

    Attributes:
        shown: The text as HTML; it only ever grows at its end.
        seconds: Time spent in this model alone, from reading the prompt on.
        first: The part of `seconds` up to the first bytes.
        unread: Bytes at the front of the prompt that lie outside the model's context.
    """

    name: str
    state: State = "waiting"
    text: str = ""
    shown: str = ""
    infos: list[ByteInfo] = field(default_factory=list)
    seconds: float = 0.0
    first: float | None = None
    unread: int = 0
    context: int = 0

    @property
    def speed(self) -> float | None:
        """Bytes per second, of this model's own time."""
        return len(self.infos) / self.seconds if self.infos else None

    def add(self, piece: Piece) -> None:
        self.text += piece.text
        self.shown += tint_text(piece.text, piece.trace)
        self.infos += piece.trace
        if piece.finish is not None:
            self.state = "finished"

    def as_json(self, *, with_bytes: bool) -> dict[str, Any]:
        """The text and its speed as plain data, on request with the probabilities of every byte."""
        fields = {
            "model": self.name,
            "state": self.state,
            "text": self.text,
            "unread_prompt_bytes": self.unread,
            "bytes_per_second": self.speed,
            "seconds_to_first_byte": self.first,
        }
        return {**fields, "bytes": [_probabilities(info) for info in self.infos]} if with_bytes else fields


def _probabilities(info: ByteInfo) -> dict[str, Any]:
    return {**info._asdict(), "alternatives": [list(pair) for pair in info.alternatives]}


def write_in_turns(
    shelf: ModelShelf, request: WritingRequest, is_stopped: Callable[[], bool] = lambda: False
) -> Iterator[list[Column]]:
    """The columns of all models, again and again as they grow; in the last update all are finished or stopped.

    Args:
        is_stopped: Called between two turns; once it returns true, no more text is generated.
    """
    columns = [Column(name) for name in request.models]
    streams: dict[str, Iterator[Piece]] = {}
    for column in columns:
        column.state = "loading"
        yield columns
        streams[column.name] = _start(shelf.get(column.name), request, column)
        column.state = "writing"
        if is_stopped():
            yield _stopped(columns)
            return
    updated = time.perf_counter()
    while any(column.state == "writing" for column in columns):
        for column in columns:
            if column.state == "writing":
                _take_turn(streams[column.name], column)
            if is_stopped():
                yield _stopped(columns)
                return
            if time.perf_counter() - updated >= UPDATE_EVERY * (1 + _written(columns) / BYTES_PER_UPDATE):
                yield columns
                updated = time.perf_counter()
    yield columns


def _written(columns: list[Column]) -> int:
    return sum(len(column.infos) for column in columns)


def _stopped(columns: list[Column]) -> list[Column]:
    for each in columns:
        each.state = "finished" if each.state == "finished" else "stopped"
    return columns


def _start(entry: Entry, request: WritingRequest, column: Column) -> Iterator[Piece]:
    tokenizer = entry.model.tokenizer
    ids = tokenizer.encode(request.prompt)
    column.context = entry.config.max_position_embeddings
    column.unread = max(0, len(ids) - column.context)
    prompt = tokenizer.decode_bytes(ids[-column.context :])
    steps = (request.steps or None) if entry.config.is_continuous else None
    return tipshare.stream(entry.model, prompt, request.sampling(), steps=steps, chunk=CHUNK)


def _take_turn(stream: Iterator[Piece], column: Column) -> None:
    began = time.perf_counter()
    piece = next(stream)
    column.seconds += time.perf_counter() - began
    column.first = column.first or column.seconds
    column.add(piece)
