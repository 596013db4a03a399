"""What a model would predict if it stopped at each depth: the logit lens, and the tuned lens.

The logit lens (nostalgebraist, 2020) reads the residual stream of every depth with the final norm and the head. The
tuned lens (Belrose et al., "Eliciting latent predictions from transformers with the tuned lens", 2023) first moves it
by one affine map per depth, x + x A + b, trained so that what is read comes closest to the last prediction.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from haliax import Axis, NamedArray
from jaxtyping import Array

from tipshare.analysis.texts import NOT_KNOWN, finite, in_float32, read_text, states_of
from tipshare.model.depth import depths
from tipshare.model.language_model import LanguageModel

ALTERNATIVES = 5


class TunedLens(eqx.Module):
    """One affine map per depth, from the embedding to the depth before the last: x + x @ weight + bias."""

    weight: NamedArray  # depth x embed x embed_out
    bias: NamedArray  # depth x embed

    @staticmethod
    def start(depth_steps: int, Embed: Axis) -> "TunedLens":
        """Maps that change nothing: the logit lens."""
        Depth = Axis("depth", depth_steps)
        return TunedLens(hax.zeros((Depth, Embed, Embed.alias("embed_out"))), hax.zeros((Depth, Embed)))

    @property
    def depth_steps(self) -> int:
        return self.bias.axis_size("depth")

    def __call__(self, x: NamedArray) -> NamedArray:
        """The streams of all depths but the last, moved; x has the axes `depth` and `embed`."""
        moved = hax.dot(x, self.weight, axis="embed").rename({"embed_out": "embed"})
        return x + moved + self.bias

    def check_fits(self, model: LanguageModel, steps: int) -> None:
        """ValueError unless the maps are for this width and number of depth steps."""
        width = self.bias.axis_size("embed")
        if (width, self.depth_steps) != (model.config.hidden_dim, steps):
            raise ValueError(
                f"this tuned lens is for width {width} and {self.depth_steps} depth steps, not for width "
                f"{model.config.hidden_dim} and {steps}: train one with python -m training lens, or leave it out"
            )


@dataclass(frozen=True)
class Lens:
    """The prediction at every depth and position of a text, if the model stopped there.

    Attributes:
        t: Depths: 0 (the embedding), 1/L, ..., 1.
        ids: What stands at every position, {position}; the begin token first.
        targets: What follows, {position}; -1 after the last.
        bytes: The most probable next bytes, best first, {depth, position, alternative}.
        probabilities: Theirs.
        entropies: -sum p log2 p, in bits, {depth, position}.
        losses: -log p of the byte that follows, in nats, {depth, position}; NaN after the last.
        divergences: KL(prediction at the last depth | prediction here), in nats, {depth, position}.
        is_tuned: Whether these are of a tuned lens.
        unread: How many ids at the front of the text did not fit into the context.
    """

    t: np.ndarray
    ids: np.ndarray
    targets: np.ndarray
    bytes: np.ndarray
    probabilities: np.ndarray
    entropies: np.ndarray
    losses: np.ndarray
    divergences: np.ndarray
    is_tuned: bool
    unread: int

    @property
    def settled(self) -> np.ndarray:
        """The first depth from which on the likeliest byte stays the last one's, {position}."""
        differs = self.bytes[..., 0] != self.bytes[-1, :, 0]
        first = np.where(differs.any(axis=0), len(differs) - differs[::-1].argmax(axis=0), 0)
        return self.t[first]


def lens(model: LanguageModel, text: str | bytes, steps: int | None = None, *, tuned: TunedLens | None = None) -> Lens:
    """Read every depth and position of a text as if the model stopped there.

    Cost: one forward pass, and the head at every depth.

    Args:
        tuned: Maps of `tipshare.checkpoint.tuned_lens.load_lens`; None is the logit lens.

    Example:
        found = lens(model, "The history of")
        print(found.t, found.divergences.mean(axis=1))
    """
    model, read = in_float32(model), read_text(model, text)
    states = states_of(model, read, steps)
    if tuned is not None:
        tuned.check_fits(model, len(states) - 1)
    log_probs = predictions(model, states, tuned)
    probabilities = np.exp(log_probs)
    best = np.argsort(-probabilities, axis=2, kind="stable")[..., :ALTERNATIVES]
    known = read.targets != NOT_KNOWN
    losses = np.full(log_probs.shape[:2], np.nan)
    losses[:, known] = -np.take_along_axis(log_probs, read.targets[None, :, None], axis=2)[:, known, 0]
    return Lens(
        t=np.concatenate([[0.0], depths(len(states) - 1)]),
        ids=read.ids,
        targets=read.targets,
        bytes=best,
        probabilities=np.take_along_axis(probabilities, best, axis=2),
        entropies=-(probabilities * log_probs).sum(axis=2) / np.log(2),
        losses=losses,
        divergences=(probabilities[-1] * (log_probs[-1] - log_probs)).sum(axis=2),
        is_tuned=tuned is not None,
        unread=read.unread,
    )


def predictions(model: LanguageModel, states: np.ndarray, tuned: TunedLens | None = None) -> np.ndarray:
    """Log probabilities of the next byte if the model stopped there, {depth, position, vocab}. Cost: the head.

    Example:
        predictions(model, hidden_states(model, "The history of"))
    """
    return finite("predictions", np.asarray(_log_probs(model, jnp.asarray(states, jnp.float32), tuned), np.float64))


@eqx.filter_jit
def _log_probs(model: LanguageModel, states: Array, tuned: TunedLens | None) -> Array:
    """{depth, position, vocab}."""
    named = hax.named(states, ("depth", "position", "embed"))
    if tuned is not None:
        named = move(tuned, named)
    return jax.nn.log_softmax(model.unembed(named).rearrange(("depth", "position", "vocab")).array)


def move(tuned: TunedLens, states: NamedArray) -> NamedArray:
    """The streams of all depths, with those before the last moved by a tuned lens."""
    last = states["depth", -1:]
    moved = tuned(states["depth", : tuned.depth_steps])
    return hax.concatenate("depth", [moved, last.rearrange(moved.axes)])


def lens_loss(tuned: TunedLens, model: LanguageModel, tokens: NamedArray) -> Array:
    """KL(last prediction | prediction through the lens) in nats, {depth}: what training a tuned lens makes small."""
    start = model.embed(tokens)
    path: Any = model.hidden(tokens, keep_path=True)[1]
    Depth = Axis("depth", path.axis_size("depth") + 1)
    states = hax.concatenate(Depth, [start.broadcast_axis(Axis("depth", 1)), path.rearrange(("depth", *start.axes))])
    states = move(tuned, jax.lax.stop_gradient(states))
    log_probs: Any = hax.nn.log_softmax(model.unembed(states), "vocab")
    last: Any = jax.lax.stop_gradient(log_probs["depth", -1])
    divergence = hax.sum(hax.exp(last) * (last - log_probs["depth", :-1]), "vocab")
    return jnp.mean(divergence.rearrange(("depth", ...)).array.reshape(tuned.depth_steps, -1), axis=1)
