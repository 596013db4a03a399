"""How different depth steps are in what they do to a text: hidden states, updates and attention."""

from dataclasses import dataclass
from typing import Any

import haliax as hax
import numpy as np
from haliax import NamedArray
from jaxtyping import Array

from tipshare.analysis.spectra import effective_rank
from tipshare.analysis.texts import along_path, cosines, hidden_states, ratio
from tipshare.model.attention import HIDDEN_SCORE
from tipshare.model.block import Block
from tipshare.model.depth import depths
from tipshare.model.language_model import LanguageModel
from tipshare.model.positions import Place


@dataclass(frozen=True)
class StreamChange:
    """The residual stream of a text along depth, and what each depth step adds to it.

    Attributes:
        t: Depths: 0 (the embedding), 1/L, ..., 1.
        alignment: CKA between the streams of two depths, {depth, depth}.
        update_sizes: |x_l - x_(l-1)| / |x_(l-1)|, {depth - 1, position}.
        update_angles: Degrees between the updates of successive depth steps, {depth - 2, position}.
        ranks: Effective rank of the streams of all positions, their mean taken off, {depth}.
    """

    t: np.ndarray
    alignment: np.ndarray
    update_sizes: np.ndarray
    update_angles: np.ndarray
    ranks: np.ndarray


def stream_change(model: LanguageModel, text: str | bytes, steps: int | None = None) -> StreamChange:
    """How the residual stream of a text changes along depth.

    Cost: one forward pass, and for L depths L^2 products of {position, embed}.

    Example:
        print(stream_change(model, "The history of").update_sizes.mean(axis=1))
    """
    states = hidden_states(model, text, steps)
    centred = states - states.mean(axis=1, keepdims=True)
    return StreamChange(
        t=np.concatenate([[0.0], depths(len(states) - 1)]),
        alignment=alignment(states),
        update_sizes=update_sizes(states),
        update_angles=update_angles(states),
        ranks=effective_rank(np.linalg.svd(centred, compute_uv=False)),
    )


def alignment(states: np.ndarray) -> np.ndarray:
    """Linear CKA between the states of all pairs of depths, {depth, depth}, for states {depth, position, embed}.

    |Y^T X|_F^2 / (|X^T X|_F |Y^T Y|_F) with the mean over positions taken off X and Y: 1 for states that are equal up
    to rotation and scale, 0 for unrelated ones (Kornblith et al., "Similarity of neural network representations
    revisited", 2019). States that are the same at every position have none: 0. Cost: L^2 products of n x n matrices for
    n positions.

    Example:
        alignment(hidden_states(model, "The history of"))
    """
    centred = states - states.mean(axis=1, keepdims=True)
    # |Y^T X|_F^2 is the inner product of the kernels X X^T and Y Y^T.
    kernels = (centred @ centred.swapaxes(1, 2)).reshape(len(states), -1)
    return np.maximum(cosines(kernels @ kernels.T), 0.0)


def update_sizes(states: np.ndarray) -> np.ndarray:
    """|x_l - x_(l-1)| / |x_(l-1)|, {depth - 1, position}, for states {depth, position, embed}. Cost: none.

    Example:
        update_sizes(hidden_states(model, "The history of"))
    """
    return ratio(np.linalg.norm(np.diff(states, axis=0), axis=2), np.linalg.norm(states[:-1], axis=2))


def update_angles(states: np.ndarray) -> np.ndarray:
    """Degrees between x_l - x_(l-1) and x_(l+1) - x_l, {depth - 2, position}, for states {depth, position, embed}.

    0: the flow goes straight on; 90: successive steps have nothing to do with each other; 180: the second takes the
    first one back. An update of zero counts as unrelated. Cost: none.

    Example:
        update_angles(hidden_states(model, "The history of"))
    """
    updates = np.diff(states, axis=0)
    first, second = updates[:-1], updates[1:]
    cosine = ratio((first * second).sum(axis=2), np.linalg.norm(first, axis=2) * np.linalg.norm(second, axis=2))
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


@dataclass(frozen=True)
class AttentionUse:
    """Where attention looks.

    Attributes:
        t: The depth of every step.
        entropies: -sum w log2 w of each query's weights, in bits, {depth, head, position}.
        distances: Mean look-back, the sum of w times the distance in bytes, {depth, head, position}.
    """

    t: np.ndarray
    entropies: np.ndarray
    distances: np.ndarray


def attention_use(model: LanguageModel, text: str | bytes, steps: int | None = None) -> AttentionUse:
    """Entropy and mean look-back distance of every head's attention weights at every depth and position.

    Cost: two forward passes.

    Example:
        print(attention_use(model, "The history of").distances[..., -1])  # of the last byte, per depth and head
    """
    found = along_path(model, text, steps, _attention, "attention weights")
    return AttentionUse(depths(len(found)), found[:, 0], found[:, 1])


def attention_weights(block: Block, x: NamedArray) -> NamedArray:
    """The softmax of query-key products that a block of plain layers has for the stream x, {heads, position,
    key_position}. Cost: that of attention.

    Example:
        attention_weights(model.at(1.0), model.embed(tokens))
    """
    attention = block.attention
    HeadSize = attention.qkv.Out[-1]
    place = Place.from_start(x.resolve_axis("position"), HeadSize if attention.rotary else None)
    query, keys, _, _ = attention.project(block.attention_norm(x), place)
    scores: Any = hax.dot(query, keys.rename({"position": "key_position"}), axis=HeadSize) / HeadSize.size**0.5
    return hax.nn.softmax(hax.where(place.visible, scores, HIDDEN_SCORE), "key_position")


def _attention(block: Block, x: NamedArray, step_size: float) -> Array:
    """{entropy | distance, heads, position}."""
    del step_size
    weights: Any = attention_weights(block, x)
    Position, KeyPosition = (weights.resolve_axis(name) for name in ("position", "key_position"))
    back = hax.arange(Position).broadcast_axis(KeyPosition) - hax.arange(KeyPosition)
    logs: Any = hax.maximum(weights, 1e-30)
    entropy = -hax.sum(weights * hax.log2(logs), KeyPosition)
    distance = hax.sum(weights * back, KeyPosition)
    return hax.stack("measure", [entropy, distance]).rearrange(("measure", "heads", "position")).array
