"""The residual stream of a prompt along depth: how far each depth step moves it, and what it predicts if read early."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import haliax as hax
import jax.numpy as jnp
import numpy as np
from haliax import Axis, NamedArray
from jaxtyping import Array

from tipshare.analysis.scoring import round_up
from tipshare.model.depth import depths
from tipshare.model.language_model import LanguageModel

ALTERNATIVES = 5
# Prompts are padded to this many positions, or twice, four times as many, up to the context.
SHORTEST_READ = 32


@dataclass(frozen=True)
class HiddenPath:
    """The residual stream at the last byte of a prompt, from the embedding (t = 0) to the last depth step.

    Attributes:
        t: Depths: 0, 1/L, 2/L, ..., 1.
        norms: Euclidean norm of the stream at every depth.
        step_sizes: Distance between a depth and the one before it, {depth - 1}.
        bytes: The most probable next bytes if the model stopped at that depth, best first, {depth, alternative}.
        probabilities: Of these bytes, {depth, alternative}.
        entropies: Of the whole prediction at every depth, in bits.
        final_probabilities: At every depth, the probability of the byte that is most probable at the last one.
        unread: How many bytes at the start of the prompt did not fit into the context.
    """

    t: np.ndarray
    norms: np.ndarray
    step_sizes: np.ndarray
    bytes: np.ndarray
    probabilities: np.ndarray
    entropies: np.ndarray
    final_probabilities: np.ndarray
    unread: int


def hidden_path(model: LanguageModel, prompt: str | bytes, steps: int | None = None) -> HiddenPath:
    """Follow the last byte of a prompt through depth; as in generation, a text starts after a line end.

    Predictions are softmax(head(norm(x_l))) of the stream x_l after l depth steps (the logit lens; nostalgebraist,
    2020). Cost: one forward pass, and the head at every depth.

    Args:
        prompt: Text or bytes, may be empty; if it is longer than the context, only its end is read.
        steps: Depth steps, for the kinds whose weights are defined at every t; the trained number if None.

    Example:
        print(hidden_path(model, "The history of").step_sizes)
    """
    steps = model.steps if steps is None else steps
    context = model.config.max_position_embeddings
    ids, unread = model.tokenizer.read_end(prompt, context)
    # No position sees what comes after it, so the padding changes nothing.
    padded = np.pad(ids, (0, min(context, max(SHORTEST_READ, round_up(len(ids)))) - len(ids)))
    stream, log_probs = _follow(model, hax.named(padded, "position"), np.int32(len(ids) - 1), steps)
    stream, log_probs = np.asarray(stream, np.float64), np.asarray(log_probs, np.float64)
    probabilities = np.exp(log_probs)
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :ALTERNATIVES]
    return HiddenPath(
        t=np.concatenate([[0.0], depths(steps)]),
        norms=np.linalg.norm(stream, axis=1),
        step_sizes=np.linalg.norm(np.diff(stream, axis=0), axis=1),
        bytes=best,
        probabilities=np.take_along_axis(probabilities, best, axis=1),
        entropies=-(probabilities * log_probs).sum(axis=1) / np.log(2),
        final_probabilities=probabilities[:, best[-1, 0]],
        unread=unread,
    )


@eqx.filter_jit
def _follow(model: LanguageModel, tokens: NamedArray, last: Any, steps: int) -> tuple[Array, Array]:
    """The stream at position `last` and its log probabilities, {depth, embed} and {depth, vocab}."""
    start = model.embed(tokens)["position", last]
    path: Any = model.hidden(tokens, steps=steps, keep_path=True)[1]
    path = path["position", last]
    Depth = Axis("depth", steps + 1)
    stream = hax.concatenate(Depth, [start.broadcast_axis(Axis("depth", 1)), path.rearrange(("depth", "embed"))])
    log_probs = hax.nn.log_softmax(model.unembed(stream), model.config.Vocab)
    return stream.rearrange(("depth", "embed")).array.astype(jnp.float32), log_probs.rearrange(("depth", "vocab")).array
