"""Writing text with a model: `generate` for finished texts, `stream` for pieces as they are written."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, overload

import jax
import jax.random as jr
import numpy as np
from jaxtyping import Array

from tipshare.generation.cached_pass import ALTERNATIVES, CHUNK, Reading, Written, read, write
from tipshare.generation.pieces import Assembler, Generation, Piece, Trace, join_pieces
from tipshare.generation.sampling import Choice, Sampling
from tipshare.generation.unrolled import Unrolled, unroll
from tipshare.model.language_model import LanguageModel
from tipshare.text.tokenizer import Tokenizer
from tipshare.validation import check_whole

# The first bytes of a stream come in a shorter chunk, so that something shows early.
FIRST_CHUNK = 8
# Prompts are padded to this many positions, or four times, sixteen times as many, and at most the context: a handful
# of compilations serve all lengths.
SHORTEST_READ = 32
# Texts written side by side, at most; more are written in groups.
MOST_ROWS = 64

Prompt = str | bytes


@overload
def generate(
    model: LanguageModel,
    prompt: Prompt,
    sampling: Sampling | None = None,
    *,
    samples: None = None,
    **options: Any,
) -> Generation: ...


@overload
def generate(
    model: LanguageModel,
    prompt: Prompt | Sequence[Prompt],
    sampling: Sampling | None = None,
    *,
    samples: int | None = None,
    **options: Any,
) -> list[Generation]: ...


def generate(
    model: LanguageModel,
    prompt: Prompt | Sequence[Prompt],
    sampling: Sampling | None = None,
    *,
    steps: int | None = None,
    solver: str | None = None,
    samples: int | None = None,
    **changes: Any,
) -> Generation | list[Generation]:
    """Continue a prompt, or several.

    A text is read as if a line had just ended before it. Of a prompt longer than the context only the end is read,
    with a warning. Text longer than the context is seen through a sliding window.

    Args:
        prompt: Text, or bytes of any kind; or a sequence of them, written on side by side.
        sampling: How bytes are chosen; the defaults of `Sampling` if None.
        steps: Depth steps, for the kinds whose weights are defined at every t; the trained number if None.
        solver: `midpoint`, `heun` or `rk4` instead of `euler`, for models with step="euler".
        samples: Texts per prompt, each with random numbers of its own. A prompt's first sample is the same text as
            without `samples`, and as without the other prompts.
        changes: Fields of `Sampling` by name, such as `temperature=0.8, top_k=40, max_bytes=500`.

    Returns:
        A `Generation`; a list of them, prompt by prompt, if there are several prompts or `samples` is given.
    """
    sampling = (sampling or Sampling()).replace(**changes)
    single = isinstance(prompt, str | bytes)
    prompts = [prompt] if single else list(prompt)
    if not prompts:
        raise ValueError("there is no prompt: give at least one, which may be empty")
    samples_each = 1 if samples is None else check_whole("samples", samples)
    unrolled = unroll(model, steps, solver)
    texts = [_prompt_ids(each, unrolled) for each in prompts]
    rows = [(text, sample) for text, _ in texts for sample in range(samples_each)]
    unread = [cut for _, cut in texts for _ in range(samples_each)]
    finished: list[Generation] = []
    for first in range(0, len(rows), MOST_ROWS):
        group = rows[first : first + MOST_ROWS]
        pieces: list[list[Piece]] = [[] for _ in group]
        for row, piece in _write_pieces(unrolled, group, sampling, (CHUNK,)):
            pieces[row].append(piece)
        finished += [join_pieces(each, cut) for each, cut in zip(pieces, unread[first:], strict=False)]
    return finished[0] if single and samples is None else finished


def stream(
    model: LanguageModel,
    prompt: Prompt,
    sampling: Sampling | None = None,
    *,
    steps: int | None = None,
    solver: str | None = None,
    sample: int = 0,
    chunk: int = CHUNK,
    **changes: Any,
) -> Iterator[Piece]:
    """Continue a prompt piece by piece; joined, the pieces are what `generate` returns.

    Args:
        sample: Which of several samples of the prompt to write.
        chunk: Bytes written between two looks at them, at most; the text does not depend on it.

    The other arguments are those of `generate`. Bad ones are refused here, before the first piece is asked for.
    """
    sampling = (sampling or Sampling()).replace(**changes)
    chunk = check_whole("chunk", chunk, 1, CHUNK)
    sample = check_whole("sample", sample, 0, 2**32 - 1)
    unrolled = unroll(model, steps, solver)
    text, _ = _prompt_ids(prompt, unrolled)
    chunks = (min(FIRST_CHUNK, chunk), chunk)
    return (piece for _, piece in _write_pieces(unrolled, [(text, sample)], sampling, chunks))


def _prompt_ids(prompt: Prompt, model: Unrolled) -> tuple[np.ndarray, int]:
    """See `Tokenizer.read_end`; with a warning if some of the prompt is not read."""
    if not isinstance(prompt, str | bytes):
        raise ValueError(f"a prompt is text or bytes, not {type(prompt).__name__}")
    ids, unread = model.tokenizer.read_end(prompt, model.context)
    if unread:
        warnings.warn(
            f"the prompt has {model.context + unread} {model.tokenizer.unit}s, more than the model's context: "
            f"only the last {model.context} are read",
            stacklevel=3,
        )
    return ids, unread


def _write_pieces(
    unrolled: Unrolled, rows: list[tuple[np.ndarray, int]], sampling: Sampling, chunks: tuple[int, ...]
) -> Iterator[tuple[int, Piece]]:
    """Pieces of all rows as they are written, each with the number of its row."""
    nothing = Trace.empty(unrolled.tokenizer, ALTERNATIVES)
    assemblers = [Assembler(nothing, sampling.max_bytes, sampling.stops, whole_characters=sampling.utf8) for _ in rows]
    if sampling.max_bytes == 0:
        for row, assembler in enumerate(assemblers):
            piece = assembler.add(nothing)
            if piece is not None:
                yield row, piece
        return
    for written in _write_chunks(unrolled, rows, sampling, chunks):
        for row, assembler in enumerate(assemblers):
            piece = assembler.add(_trace(unrolled.tokenizer, written, row))
            if piece is not None:
                yield row, piece
        if all(assembler.finish is not None for assembler in assemblers):
            return


def _write_chunks(
    unrolled: Unrolled, rows: list[tuple[np.ndarray, int]], sampling: Sampling, chunks: tuple[int, ...]
) -> Iterator[Written]:
    """Chunk after chunk, as arrays on the host, up to `max_bytes`; the last chunk size is used again and again."""
    tokenizer = unrolled.tokenizer
    # A batch of another size is another compilation: fill it up to a power of two with rows nobody asked for.
    padding = [(np.array([tokenizer.begin], np.int32), 0)] * ((1 << (len(rows) - 1).bit_length()) - len(rows))
    windows = [text for text, _ in rows + padding]
    low, high = np.uint32(sampling.seed & 0xFFFFFFFF), np.uint32(sampling.seed >> 32)
    keys = _row_keys(low, high, np.array([sample for _, sample in rows + padding], np.uint32))
    choice = Choice.of(sampling, tokenizer)
    reading = _read(unrolled, windows)
    done, turn = 0, 0
    while done < sampling.max_bytes:
        count = min(chunks[min(turn, len(chunks) - 1)], sampling.max_bytes - done)
        if unrolled.positions is not None:
            # Positions end with the context: write the byte that overflows it, then read again from a later start.
            count = min(count, unrolled.context + 1 - max(map(len, windows)))
        reading, written = write(unrolled, reading, choice, keys, np.int32(done), np.int32(count))
        written = jax.tree.map(lambda array, count=count: np.asarray(array)[:count], written)
        done, turn = done + count, turn + 1
        yield written
        if unrolled.positions is not None:
            windows = [np.concatenate([text, written.ids[:, row]]) for row, text in enumerate(windows)]
            if max(map(len, windows)) > unrolled.context:
                windows = [slide(text, unrolled.context) for text in windows]
                reading = _read(unrolled, windows)._replace(character=reading.character)


def slide(text: np.ndarray, context: int) -> np.ndarray:
    """The window on a text for a model with learned positions: once over the context it starts again from half.

    Such a model knows no position beyond its context, and cached keys cannot be moved to another one.
    """
    return text if len(text) <= context else text[-(context // 2 + 1) :]


def _read(unrolled: Unrolled, windows: list[np.ndarray]) -> Reading:
    lengths = np.array([len(text) for text in windows], np.int32)
    width = min(SHORTEST_READ, unrolled.context)
    while width < lengths.max():
        width = min(4 * width, unrolled.context)
    tokens = np.zeros((len(windows), width), np.int32)
    for row, text in enumerate(windows):
        tokens[row, width - len(text) :] = text
    return read(unrolled, tokens, lengths)


@jax.jit
def _row_keys(low: Array, high: Array, samples: Array) -> Array:
    key = jr.fold_in(jr.key(low), high)
    return jax.vmap(lambda sample: jr.fold_in(key, sample))(samples)


def _trace(tokenizer: Tokenizer, written: Written, row: int) -> Trace:
    return Trace(
        tokenizer,
        np.asarray(written.ids[:, row]),
        np.exp(written.log_probs[:, row]),
        np.asarray(written.ranks[:, row]) + 1,
        np.asarray(written.alternatives[:, row]),
        np.exp(written.alternative_log_probs[:, row]),
    )
