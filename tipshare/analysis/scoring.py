"""How well a model predicts a text: the log probability of every token, and the measures that follow from it."""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import equinox as eqx
import haliax as hax
import numpy as np
from jaxtyping import Array

from tipshare.text.tokenizer import Tokenizer
from tipshare.validation import check_whole

if TYPE_CHECKING:
    from tipshare.model.language_model import LanguageModel

# Tokens per compiled call: enough to keep a device busy, few enough that the logits stay small.
TOKENS_PER_CALL = 8_192
# A float cannot hold exp of more.
LARGEST_EXPONENT = math.log(sys.float_info.max)


def perplexity_of(loss: float) -> float:
    """exp(loss), or the largest number there is."""
    return math.exp(min(loss, LARGEST_EXPONENT))


@dataclass(frozen=True)
class Score:
    """The log probabilities that a model gives a text. For all models so far a token is a byte.

    Attributes:
        log_probs: Entry i is log p(token i | tokens before it), in nats; the first is conditioned on a line end.
        num_bytes: Bytes scored.
        num_characters: UTF-8 characters that start among them.
    """

    log_probs: np.ndarray
    num_bytes: int
    num_characters: int

    @property
    def nats(self) -> float:
        """The sum of -log p over all tokens."""
        return -float(self.log_probs.sum(dtype=np.float64))

    @property
    def loss(self) -> float:
        """Nats per token."""
        return self.nats / self.log_probs.size

    @property
    def bits_per_byte(self) -> float:
        return self.nats / self.num_bytes / math.log(2)

    @property
    def loss_per_character(self) -> float:
        """Nats per character, to compare with models of characters."""
        return self.nats / max(self.num_characters, 1)

    @property
    def perplexity(self) -> float:
        """exp(loss): among how many equally probable tokens the model would be as uncertain."""
        return perplexity_of(self.loss)


def score(
    model: "LanguageModel",
    text: str | bytes,
    *,
    stride: int | None = None,
    steps: int | None = None,
    solver: str | None = None,
) -> Score:
    """The log probability of every byte of `text`.

    A text longer than the context is read in windows, of which each scores the bytes that the one before did not
    reach. The cost grows with the text, rounded up to a power of two, and not with the context.

    Args:
        stride: Bytes from the start of a window to that of the next, 1 to the context. With half a context, the
            default, every byte after the first window is predicted from at least half a context. With the whole
            context windows do not overlap: faster, and what model cards and records state.
        steps: Depth steps, for the kinds whose weights are defined at every t; the trained number if None.
        solver: `midpoint`, `heun` or `rk4` instead of `euler`, for models with step="euler".
    """
    tokenizer, context = model.tokenizer, model.config.max_position_embeddings
    steps, ids = model._check_steps(steps), tokenizer.encode(text)
    if not ids.size:
        raise ValueError(f"cannot score an empty text: give at least one {tokenizer.unit}")
    shape = scoring_shape(len(ids), context, stride)
    return score_ids(
        lambda windows: _compiled(model, windows, steps, solver), ids, tokenizer, shape.width, shape.stride, shape.rows
    )


class ScoringShape(NamedTuple):
    """How a text is cut: `calls` calls of `rows` windows of `width` positions, `stride` apart."""

    calls: int
    rows: int
    width: int
    stride: int


def scoring_shape(length: int, context: int, stride: int | None = None) -> ScoringShape:
    """How `score` cuts a text of this many tokens for a model with this context."""
    stride = max(1, context // 2) if stride is None else check_whole("stride", stride, 1, context)
    width = min(context, round_up(length))
    windows = len(window_starts(length, width, stride))
    rows = min(rows_per_call(width), round_up(windows))
    return ScoringShape(-(-windows // rows), rows, width, stride)


# {row, width + 1} ids -> {row, width}: -log p of all but the first id of each row.
WindowScorer = Callable[[np.ndarray], Array]


def score_ids(scorer: WindowScorer, ids: np.ndarray, tokenizer: Tokenizer, width: int, stride: int, rows: int) -> Score:
    """Score every id of a text once, in windows of `width` that start `stride` apart.

    The first id of a window is predicted from the id before it, the first of the text from the begin token.

    Args:
        rows: Windows per call of `scorer`; every call has this shape.
    """
    starts = window_starts(len(ids), width, stride)
    losses, filled = np.empty(len(ids), np.float32), 0

    def cut() -> Iterator[np.ndarray]:
        for first in range(0, len(starts), rows):
            places = np.asarray(starts[first : first + rows])[:, None] + np.arange(-1, width)
            windows = ids[np.clip(places, 0, len(ids) - 1)]
            windows[places < 0] = tokenizer.begin
            yield windows

    scored = (row for batch in cut() for row in _score_batch(scorer, batch, rows))
    for start, row in zip(starts, scored, strict=True):
        end = min(start + width, len(ids))
        losses[filled:end] = row[filled - start : end - start]
        filled = end
    return Score(-losses, tokenizer.count_bytes(ids), tokenizer.count_characters(ids))


def score_windows(scorer: WindowScorer, windows: np.ndarray, tokenizer: Tokenizer, rows: int) -> Score:
    """Score given windows, {window, width + 1}; the first id of each is only read."""
    batches = (windows[first : first + rows] for first in range(0, len(windows), rows))
    losses = np.concatenate([_score_batch(scorer, batch, rows) for batch in batches])
    scored = windows[:, 1:]
    return Score(-losses.reshape(-1), tokenizer.count_bytes(scored), tokenizer.count_characters(scored))


def _score_batch(scorer: WindowScorer, windows: np.ndarray, rows: int) -> np.ndarray:
    # One shape for all calls, so that a last, smaller batch is not compiled anew.
    padded = np.zeros((rows, windows.shape[1]), windows.dtype)
    padded[: len(windows)] = windows
    return np.asarray(scorer(padded))[: len(windows)]


def window_starts(length: int, width: int, stride: int) -> range:
    """Where windows start, `stride` apart, so that they cover `length`."""
    return range(0, max(length - width, 0) + stride, stride)


def rows_per_call(width: int) -> int:
    """Windows per compiled call, at most."""
    return max(1, TOKENS_PER_CALL // width)


def round_up(count: int) -> int:
    """The next power of two: few shapes, and so few compilations, serve all sizes."""
    return 1 << (count - 1).bit_length()


def window_losses(
    model: "LanguageModel", windows: Array | np.ndarray, steps: int | None, solver: str | None = None
) -> Array:
    """A `WindowScorer` of a model, to be compiled."""
    ids = windows.astype(np.int32)
    tokens, targets = (hax.named(side, ("batch", "position")) for side in (ids[:, :-1], ids[:, 1:]))
    log_probs = hax.nn.log_softmax(model(tokens, steps=steps, solver=solver), model.config.Vocab)
    return -log_probs.take("vocab", targets).rearrange(("batch", "position")).array


_compiled = eqx.filter_jit(window_losses)
