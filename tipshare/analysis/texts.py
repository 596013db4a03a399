"""What the analyses of a text share: its ids as a model reads them, the residual stream at every depth, and checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import haliax as hax
import jax.numpy as jnp
import numpy as np
from haliax import NamedArray
from jaxtyping import Array

from tipshare.analysis.scoring import round_up
from tipshare.model.block import Block
from tipshare.model.depth import depth_grid
from tipshare.model.language_model import LanguageModel

# Texts are padded to this many positions, or twice, four times as many, up to the context: few shapes are compiled.
SHORTEST_READ = 32
NOT_KNOWN = -1


@dataclass(frozen=True)
class ReadText:
    """A text as a model reads it.

    Attributes:
        ids: What stands at every position, {position}; the begin token first, unless the text is longer than the
            context.
        targets: The id that follows each position; -1 after the last.
        unread: How many ids at the front of the text did not fit into the context.
        padded: `ids` with zeros after them. No position sees what comes after it, so they change nothing.
    """

    ids: np.ndarray
    targets: np.ndarray
    unread: int
    padded: NamedArray


def read_text(model: LanguageModel, text: str | bytes, *, may_be_empty: bool = False) -> ReadText:
    """A text for `model`; ValueError if it is empty, unless it may be."""
    if not len(text) and not may_be_empty:
        raise ValueError(f"cannot analyse an empty text: give at least one {model.tokenizer.unit}")
    context = model.config.max_position_embeddings
    ids, unread = model.tokenizer.read_end(text, context)
    padding = min(context, max(SHORTEST_READ, round_up(len(ids)))) - len(ids)
    padded = hax.named(np.pad(ids, (0, padding)), "position")
    return ReadText(ids, np.append(ids[1:], NOT_KNOWN), unread, padded)


def in_float32(model: LanguageModel) -> LanguageModel:
    """The model in float32: rounding to bfloat16 would drown small changes."""
    return model if model.embedding.dtype == jnp.float32 else model.astype(jnp.float32)


def hidden_states(model: LanguageModel, text: str | bytes, steps: int | None = None) -> np.ndarray:
    """The residual stream at every depth and position, {depth, position, embed}: the embedding, then after each step.

    Cost: one forward pass.

    Args:
        text: Text or bytes, not empty; if it is longer than the context, only its end is read.

    Example:
        states = hidden_states(model, "The history of")
        print(states.shape)  # depth steps + 1, bytes + 1, width
    """
    return states_of(in_float32(model), read_text(model, text), steps)


def states_of(model: LanguageModel, read: ReadText, steps: int | None) -> np.ndarray:
    """`hidden_states` of a text that was read, for a model in float32."""
    states = np.asarray(_states(model, read.padded, model._check_steps(steps)), np.float64)
    return finite("hidden states", states[:, : len(read.ids)])


@eqx.filter_jit
def _states(model: LanguageModel, tokens: NamedArray, steps: int | None) -> Array:
    path: Any = model.hidden(tokens, steps=steps, keep_path=True)[1]
    start = model.embed(tokens).rearrange(("position", "embed")).array
    return jnp.concatenate([start[None], path.rearrange(("depth", "position", "embed")).array]).astype(jnp.float32)


# What is measured of a depth step, {..., position}: from its block of plain layers, the residual stream before it and
# the step size.
Measure = Callable[[Block, NamedArray, float], Array]


def along_path(model: LanguageModel, text: str | bytes, steps: int | None, measure: Measure, what: str) -> np.ndarray:
    """`measure` at every depth step of a forward pass, {depth, ..., position}; ValueError if `what` is not finite."""
    read = read_text(model, text)
    found = np.asarray(_measure(in_float32(model), read.padded, model._check_steps(steps), measure), np.float64)
    return finite(what, found[..., : len(read.ids)])


@eqx.filter_jit
def _measure(model: LanguageModel, tokens: NamedArray, steps: int, measure: Measure) -> Array:
    blocks, t, step_size = model.blocks(steps), depth_grid(steps), model.step_size(steps)

    def one_step(x: NamedArray, block: Any, t: NamedArray) -> tuple[NamedArray, Any]:
        del t  # there so that a block with no weight of its own per depth still has a depth axis
        return block(x, step_size), measure(block, x, step_size)

    scan: Any = hax.scan(one_step, t.axes[0])
    return scan(model.embed(tokens), blocks, t)[1]


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, and 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def cosines(products: np.ndarray) -> np.ndarray:
    """From the inner products of all pairs of vectors the cosines of their angles; a vector of zeros has none: 0."""
    lengths = np.sqrt(np.diag(products))
    return np.clip(ratio(products, np.outer(lengths, lengths)), -1.0, 1.0)


def finite(what: str, values: np.ndarray) -> np.ndarray:
    """`values`, or a ValueError if any of them is NaN or infinite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"the {what} of this model are NaN or infinite: its weights are damaged, or training diverged; load "
            "another checkpoint, or an earlier step"
        )
    return values
