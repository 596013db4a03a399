"""How well a model predicts a text: on fixed windows, and on a whole split with every byte scored once."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from tipshare.model.language_model import LanguageModel
from tipshare.text.tokenizer import BEGIN
from training.engine.sharding import Placement
from training.engine.step import Arrays

# Bytes per compiled call: enough to keep a device busy, few enough that the logits stay small.
BYTES_PER_CALL = 8_192


@dataclass(frozen=True)
class TextLoss:
    """The loss on a text.

    Attributes:
        nats: Sum of -log p over all bytes scored.
        num_characters: UTF-8 characters among them; what a per-character loss divides by.
    """

    nats: float
    num_bytes: int
    num_characters: int

    @property
    def loss(self) -> float:
        """Nats per byte."""
        return self.nats / self.num_bytes

    @property
    def bits_per_byte(self) -> float:
        return self.loss / math.log(2)

    @property
    def loss_per_character(self) -> float:
        """Nats per character, to compare with models of characters."""
        return self.nats / max(self.num_characters, 1)

    @property
    def perplexity(self) -> float:
        """Per byte."""
        return math.exp(self.loss)


class Evaluator:
    """Scores windows with the arrays of a model; compiles once per shape."""

    def __init__(self, static: LanguageModel, placement: Placement | None = None) -> None:
        self._placement = placement or Placement()
        copies = self._placement.out_shardings(jax.ShapeDtypeStruct((), jnp.float32))

        def byte_losses(parameters: Arrays, windows: Array, steps: int | None) -> Array:
            """-log p of every byte but the first of each window, as {window, byte}."""
            model = eqx.combine(parameters, static)
            ids = windows.astype(jnp.int32)
            tokens, targets = (hax.named(side, ("batch", "position")) for side in (ids[:, :-1], ids[:, 1:]))
            log_probs = hax.nn.log_softmax(model(tokens, steps=steps), model.config.Vocab)
            return -log_probs.take("vocab", targets).rearrange(("batch", "position")).array

        self._byte_losses = jax.jit(byte_losses, static_argnums=2, **copies)

    def on_windows(self, parameters: Arrays, windows: np.ndarray, *, steps: int | None = None) -> TextLoss:
        """Loss on windows of `length + 1` bytes; the first byte of each is only read.

        `steps` is the number of depth steps, for models whose weights are defined at every t; None for the trained one.
        """
        losses = np.concatenate(list(self._losses(parameters, windows, steps)))
        return TextLoss(float(losses.sum(dtype=np.float64)), losses.size, count_characters(windows[:, 1:]))

    def on_split(self, parameters: Arrays, data: np.ndarray, length: int) -> TextLoss:
        """Loss on a whole text in windows of `length` that do not overlap: each byte is scored exactly once.

        The first byte of a window is predicted from the byte before it, the first of the text from a line end.
        """
        nats, characters = 0.0, 0
        per_piece = length * _windows_per_call(length)
        for start in range(0, len(data), per_piece):
            piece = np.asarray(data[start : start + per_piece])
            before = np.uint8(BEGIN) if start == 0 else data[start - 1]
            count = math.ceil(len(piece) / length)
            padded = np.zeros(count * length + 1, np.uint8)
            padded[0], padded[1 : len(piece) + 1] = before, piece
            windows = padded[np.arange(count)[:, None] * length + np.arange(length + 1)]
            losses = np.concatenate(list(self._losses(parameters, windows))).reshape(-1)
            nats += float(losses[: len(piece)].sum(dtype=np.float64))
            characters += count_characters(piece)
        return TextLoss(nats, len(data), characters)

    def _losses(self, parameters: Arrays, windows: np.ndarray, steps: int | None = None) -> Iterator[np.ndarray]:
        per_call = _windows_per_call(windows.shape[1] - 1)
        for start in range(0, len(windows), per_call):
            chosen = windows[start : start + per_call]
            # One shape for all calls, so that a last, shorter batch does not compile anew.
            batch = np.zeros((per_call, windows.shape[1]), np.uint8)
            batch[: len(chosen)] = chosen
            losses = self._byte_losses(parameters, self._placement.put_batch(batch), steps)
            yield np.asarray(losses)[: len(chosen)]


def count_characters(data: np.ndarray) -> int:
    """UTF-8 characters that start in some bytes."""
    return int(np.count_nonzero((data & 0xC0) != 0x80))


def _windows_per_call(length: int) -> int:
    return max(1, BYTES_PER_CALL // length)
