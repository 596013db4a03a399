"""Several models continue one prompt in turns, so that all texts grow at the same time."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import tipshare
from app.generate.measured import Measured
from app.generate.settings import WritingRequest
from app.generate.tinted import bits_of, tint_text
from app.shelf import Entry, Listing, ModelShelf
from tipshare.generation.pieces import ByteInfo, Piece

State = Literal["waiting", "loading", "compiling", "writing", "finished", "stopped"]

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
        bits: Surprise of the model at all bytes that it wrote.
        seconds: Time spent in this model alone, from reading the prompt on.
        first: The part of `seconds` up to the first bytes.
        unread: Bytes at the front of the prompt that lie outside the model's context.
        steps: Depth steps that the text is written with.
    """

    name: str
    state: State = "waiting"
    text: str = ""
    shown: str = ""
    infos: list[ByteInfo] = field(default_factory=list)
    bits: float = 0.0
    seconds: float = 0.0
    first: float | None = None
    unread: int = 0
    context: int = 0
    steps: int = 0

    @property
    def speed(self) -> float | None:
        """Bytes per second, of this model's own time."""
        return len(self.infos) / self.seconds if self.infos else None

    def add(self, piece: Piece) -> None:
        self.text += piece.text
        self.shown += tint_text(piece.text, piece.trace)
        self.infos += piece.trace
        self.bits += sum(bits_of(info.probability) for info in piece.trace)
        if piece.finish is not None:
            self.state = "finished"

    def as_json(self, *, with_bytes: bool) -> dict[str, Any]:
        """The text and its speed as plain data, on request with the probabilities of every byte."""
        fields = {
            "model": self.name,
            "state": self.state,
            "text": self.text,
            "depth_steps": self.steps,
            "unread_prompt_bytes": self.unread,
            "bytes_per_second": self.speed,
            "bits_per_byte": self.bits / len(self.infos) if self.infos else None,
            "seconds_to_first_byte": self.first,
        }
        return {**fields, "bytes": [_probabilities(info) for info in self.infos]} if with_bytes else fields


def _probabilities(info: ByteInfo) -> dict[str, Any]:
    return {**info._asdict(), "alternatives": [list(pair) for pair in info.alternatives]}


def write_in_turns(
    shelf: ModelShelf,
    measured: Measured,
    request: WritingRequest,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[list[Column]]:
    """The columns of all models, again and again as they grow; in the last update all are finished or stopped.

    What is new to this server is compiled before a model's clock starts.

    Args:
        is_stopped: Called between two turns; once it returns true, no more text is generated.
    """
    columns = [Column(name) for name in request.models]
    streams: dict[str, Iterator[Piece]] = {}
    for column in columns:
        column.state = "loading"
        yield columns
        entry = shelf.get(column.name)
        prompt, steps = _read_prompt(entry, request, column), depth_of(entry, request.steps)
        if not measured.is_compiled(entry.model, prompt, steps):
            column.state = "compiling"
            yield columns
            if not is_stopped():
                measured.compile(entry.model, prompt, steps)
        if is_stopped():
            yield _stopped(columns)
            return
        streams[column.name] = tipshare.stream(entry.model, prompt, request.sampling(), steps=steps, chunk=CHUNK)
        column.state = "writing"
    updated = time.perf_counter()
    while any(column.state == "writing" for column in columns):
        for column in columns:
            if column.state == "writing":
                _take_turn(streams[column.name], column)
                if column.speed is not None:
                    measured.note_speed(column.name, column.steps, len(column.infos), column.speed)
            if is_stopped():
                yield _stopped(columns)
                return
            if time.perf_counter() - updated >= UPDATE_EVERY * (1 + _written(columns) / BYTES_PER_UPDATE):
                yield columns
                updated = time.perf_counter()
    yield columns


def depth_of(listing: Listing, steps: int) -> int | None:
    """The depth steps to ask a model for: the number that is set, if the model takes any; None for its own."""
    return (steps or None) if listing.config.is_continuous else None


def _written(columns: list[Column]) -> int:
    return sum(len(column.infos) for column in columns)


def _stopped(columns: list[Column]) -> list[Column]:
    for each in columns:
        each.state = "finished" if each.state == "finished" else "stopped"
    return columns


def _read_prompt(entry: Entry, request: WritingRequest, column: Column) -> bytes:
    """The end of the prompt that the model reads."""
    tokenizer = entry.model.tokenizer
    ids = tokenizer.encode(request.prompt)
    column.context = entry.config.max_position_embeddings
    column.unread = max(0, len(ids) - column.context)
    column.steps = depth_of(entry, request.steps) or entry.config.steps
    return tokenizer.decode_bytes(ids[-column.context :])


def _take_turn(stream: Iterator[Piece], column: Column) -> None:
    began = time.perf_counter()
    piece = next(stream)
    column.seconds += time.perf_counter() - began
    column.first = column.first or column.seconds
    column.add(piece)
