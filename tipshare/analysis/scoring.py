"""How well a model predicts a given text, byte by byte."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import equinox as eqx
import haliax as hax
import jax.numpy as jnp
import numpy as np
from haliax import NamedArray

from tipshare.text.tokenizer import BEGIN, encode

if TYPE_CHECKING:
    from tipshare.model.language_model import LanguageModel

# Windows scored per compiled call; a fixed number, so that texts of any length reuse one compilation.
WINDOWS_PER_CALL = 16


@dataclass(frozen=True)
class Score:
    """What a model thinks of a text.

    Attributes:
        log_probs: Entry i is log p(byte i | bytes before it), in nats; the first byte is conditioned on a newline.
    """

    log_probs: np.ndarray

    @property
    def loss(self) -> float:
        """Mean negative log probability, in nats per byte."""
        return float(-self.log_probs.mean(dtype=np.float64))

    @property
    def bits_per_byte(self) -> float:
        return self.loss / math.log(2)

    @property
    def perplexity(self) -> float:
        """exp(loss): between how many bytes the model wavers, on average."""
        return math.exp(self.loss)


def score(model: "LanguageModel", text: str | bytes) -> Score:
    """Log probability of every byte of `text`.

    A text longer than the context is read in windows that overlap by half, so that every byte after the first window
    is predicted from at least half a context.
    """
    ids = encode(text)
    if not ids.size:
        raise ValueError("cannot score an empty text: give at least one byte")
    if model.config.vocab_size < 256:
        raise ValueError(f"the model has {model.config.vocab_size} token ids; scoring text needs one per byte, 256")
    context = model.config.max_position_embeddings
    inputs = np.concatenate([[BEGIN], ids[:-1]]).astype(np.int32)
    starts = window_starts(len(ids), context)
    log_probs = np.empty(len(ids), np.float32)
    filled = 0
    for first in range(0, len(starts), WINDOWS_PER_CALL):
        chosen = starts[first : first + WINDOWS_PER_CALL]
        windows = np.zeros((2, WINDOWS_PER_CALL, context), np.int32)
        for row, start in enumerate(chosen):
            piece = slice(start, start + context)
            windows[0, row, : len(inputs[piece])] = inputs[piece]
            windows[1, row, : len(ids[piece])] = ids[piece]
        scored = np.asarray(_log_probs(model, *(hax.named(side, ("batch", "position")) for side in windows)).array)
        for row, start in enumerate(chosen):
            end = min(start + context, len(ids))
            log_probs[filled:end] = scored[row, filled - start : end - start]
            filled = end
    return Score(log_probs)


def window_starts(length: int, context: int) -> list[int]:
    """Where windows of `context` start so that they cover `length` and overlap by half."""
    stride = max(1, context // 2)
    return list(range(0, max(length - context, 0) + stride, stride)) if length > context else [0]


@eqx.filter_jit
def _log_probs(model: "LanguageModel", inputs: NamedArray, targets: NamedArray) -> NamedArray:
    log_probs = hax.nn.log_softmax(model(inputs), model.config.Vocab)
    return log_probs.take("vocab", targets).astype(jnp.float32)
