"""What a prediction depends on: the Jacobian of one position at the last depth with respect to every byte's vector.

Tong et al. (Neural ODE Transformers, ICLR 2025) show the largest exponent of this Jacobian for every byte.
"""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from haliax import NamedArray
from jaxtyping import Array

from tipshare.analysis.lyapunov import DIRECTIONS, in_groups
from tipshare.analysis.texts import finite, in_float32, read_text
from tipshare.model.depth import run_depth
from tipshare.model.language_model import LanguageModel
from tipshare.validation import check_whole

# Up to this many positions times width, every direction of the last stream is followed, and DIRECTIONS beyond: 65
# positions of a model 256 wide.
MOST_SENSED = 65 * 256


@dataclass(frozen=True)
class Sensitivity:
    """What the prediction after one byte depends on.

    Attributes:
        ids: The byte at every position up to that of the prediction, {position}; the begin token first.
        place: The position that predicts.
        exponents: log of the largest singular value of d x_L(place) / d x_0(position), per pass, {position}: by how
            much a disturbance of this byte's vector can grow until the last depth; -inf where nothing arrives.
        gradients: Norm of the gradient of log p(likeliest next byte) by the byte's vector, in nats, {position}.
        predicted: The likeliest next byte.
        is_exact: Whether all directions were followed. Otherwise exponents are lower bounds, close for the bytes that
            matter most.
        unread: How many ids at the front of the text did not fit into the context.
    """

    ids: np.ndarray
    place: int
    exponents: np.ndarray
    gradients: np.ndarray
    predicted: int
    is_exact: bool
    unread: int

    @property
    def shares(self) -> np.ndarray:
        """Each byte's share in the sum of all gradients, {position}."""
        total = self.gradients.sum()
        return self.gradients / total if total > 0 else self.gradients


def sensitivity(
    model: LanguageModel,
    text: str | bytes,
    place: int = -1,
    steps: int | None = None,
    *,
    directions: int | None = None,
) -> Sensitivity:
    """What the prediction at one position of a text depends on: an exponent and a gradient for every byte before it.

    The Jacobian of the last stream at that position with respect to every byte's vector, row by row. With fewer
    directions than the model is wide, rows are followed in the directions that move this position most: the leading
    left singular vectors of the whole Jacobian, by subspace iteration (Halko et al., 2011).

    Cost: a backward pass over the text for each direction; for 64 bytes of a model 256 wide, about 2 s on two cores.

    Args:
        place: The position that predicts, 0 (the begin token) to the last; -1 is the last, which predicts what comes
            after the text.
        directions: How many directions to follow; all (exact) if None, and DIRECTIONS if positions times
            width are more than MOST_SENSED.

    Example:
        found = sensitivity(model, "The history of")
        print(found.shares.argmax())
    """
    steps = model._check_steps(steps)
    model, read = in_float32(model), read_text(model, text)
    length = len(read.ids)
    if isinstance(place, bool) or not isinstance(place, int | np.integer) or not -length <= place < length:
        raise ValueError(f"place={place!r} is not a position of this text: give 0 to {length - 1}, or -1 for the last")
    place, width = int(place) % length, model.config.hidden_dim
    if directions is None:
        directions = width if length * width <= MOST_SENSED else DIRECTIONS
    count = min(check_whole("directions", directions), width)
    is_exact = count == width
    at, cotangents = jnp.int32(place), jnp.eye(width)
    if not is_exact:
        cotangents = _orthonormal(np.random.default_rng(0).standard_normal((width, count)))
        for _ in range(2):
            turned = np.asarray(_turn(model, read.padded, at, cotangents, steps))
            cotangents = _orthonormal(finite("derivatives", turned).T)
    squares, gradient, best = _rows(model, read.padded, at, cotangents, steps)
    squares = finite("derivatives", np.asarray(squares, np.float64))[: place + 1]
    largest = np.linalg.eigvalsh(squares)[:, -1]
    with np.errstate(divide="ignore"):
        exponents = 0.5 * np.log(np.maximum(largest, 0.0))
    gradients = np.linalg.norm(np.asarray(gradient, np.float64)[: place + 1], axis=1)
    return Sensitivity(read.ids[: place + 1], place, exponents, gradients, int(best), is_exact, read.unread)


def _orthonormal(columns: np.ndarray) -> Array:
    """An orthonormal basis of what the columns span, as rows."""
    return jnp.asarray(np.linalg.qr(columns)[0].T, jnp.float32)


def _to_place(model: LanguageModel, place: Array, steps: int | None) -> Callable[[Array], Array]:
    """From the embedded text, {position, embed}, to the last stream at one position, {embed}."""
    blocks = model.blocks(steps)
    number = model._check_steps(steps)

    def end(x: Array) -> Array:
        named = hax.named(x, ("position", "embed"))
        last, _ = run_depth(blocks, named, steps=number, step_size=model.step_size(number))
        return last["position", place].array

    return end


@eqx.filter_jit
def _rows(
    model: LanguageModel, tokens: NamedArray, place: Array, cotangents: Array, steps: int | None
) -> tuple[Array, Array, Array]:
    """Per position, J J^T in the given directions; the gradient of the likeliest byte's log p; and that byte."""
    x = model.embed(tokens).rearrange(("position", "embed")).array
    end, pull = jax.vjp(_to_place(model, place, steps), x)
    rows = in_groups(lambda u: pull(u)[0], cotangents)  # direction, position, embed

    def log_prob(last: Array) -> tuple[Array, Array]:
        log_probs = jax.nn.log_softmax(model.unembed(hax.named(last, "embed")).array)
        best = jnp.argmax(log_probs)
        return log_probs[best], best

    of_end, best = jax.grad(log_prob, has_aux=True)(end)
    return jnp.einsum("apd,bpd->pab", rows, rows), pull(of_end)[0], best


@eqx.filter_jit
def _turn(model: LanguageModel, tokens: NamedArray, place: Array, cotangents: Array, steps: int | None) -> Array:
    """J J^T u for every direction u of the stream at one position."""
    x = model.embed(tokens).rearrange(("position", "embed")).array
    end, pull = jax.vjp(_to_place(model, place, steps), x)
    _, push = jax.vjp(lambda u: pull(u)[0], jnp.zeros_like(end))
    return in_groups(lambda u: push(pull(u)[0])[0], cotangents)
