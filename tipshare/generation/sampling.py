"""From the logits of the next byte to the byte: settings, random numbers and the choice."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from tipshare.text.tokenizer import Tokenizer, to_bytes
from tipshare.validation import check_fields, check_names

MOST_BYTES = 1_000_000
# Below it, logits that are divided by the temperature may be too large for float32; the best byte is certain by then.
COLDEST = 1e-6


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How bytes are chosen, and how many. The defaults hold for the library, the command line and the demo alike.

    Attributes:
        max_bytes: The most bytes to write, 0 to a million.
        temperature: Divides the logits; 0 always takes the most probable byte.
        top_k: Choose among the k most probable bytes only; None for all.
        top_p: Choose among the most probable bytes that together reach this probability; 1 for all.
        min_p: Drop bytes less probable than this share of the most probable one; 0 for none.
        repetition_penalty: Weakens bytes that stand in the last context (Keskar et al., 2019); 1 changes nothing.
        seed: Same seed, same text.
        utf8: Choose only bytes that continue valid UTF-8, and end on a whole character.
        stop: Texts that end the generation; the one that is met is left out. A single text may be given plainly.
    """

    max_bytes: int = field(default=300, metadata={"least": 0, "most": MOST_BYTES})
    temperature: float = field(default=0.8, metadata={"most": 1e6})
    top_k: int | None = None
    top_p: float = field(default=1.0, metadata={"above": 0.0, "most": 1.0})
    min_p: float = field(default=0.0, metadata={"most": 1.0})
    repetition_penalty: float = field(default=1.0, metadata={"least": 1e-3, "most": 1e3})
    seed: int = field(default=0, metadata={"least": 0, "most": 2**63 - 1})
    utf8: bool = True
    stop: str | bytes | tuple[str | bytes, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        given = (self.stop,) if isinstance(self.stop, str | bytes) else self.stop
        if not isinstance(given, tuple | list) or not all(isinstance(each, str | bytes) and each for each in given):
            raise ValueError(f"stop={self.stop!r} must be a text that is not empty, or a tuple of such texts")

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated again."""
        check_names(self, changes, "setting")
        return dataclasses.replace(self, **changes)

    @property
    def stops(self) -> tuple[bytes, ...]:
        """The stop texts as bytes."""
        given = (self.stop,) if isinstance(self.stop, str | bytes) else self.stop
        return tuple(to_bytes(each) for each in given)


class Choice(NamedTuple):
    """The settings as arrays that compiled code takes, so that none of them makes it compile again."""

    temperature: np.float32
    top_k: np.int32
    top_p: np.float32
    min_p: np.float32
    repetition_penalty: np.float32
    utf8: np.bool_
    limit: np.int32  # tokens to write in all
    next_state: np.ndarray  # state, vocab: see `tipshare.text.utf8`
    bytes_to_come: np.ndarray  # state, vocab

    @staticmethod
    def of(sampling: Sampling, tokenizer: Tokenizer) -> "Choice":
        return Choice(
            np.float32(sampling.temperature if sampling.temperature > COLDEST else 0.0),
            np.int32(min(sampling.top_k or tokenizer.size, tokenizer.size)),
            np.float32(sampling.top_p),
            np.float32(sampling.min_p),
            np.float32(sampling.repetition_penalty),
            np.bool_(sampling.utf8),
            np.int32(sampling.max_bytes),
            *tokenizer.utf8_tables,
        )


def draw_uniform(keys: PRNGKeyArray, numbers: Array) -> Array:
    """A random number in [0, 1) for every byte, {step, batch}, from its row's key and its number in the text alone."""

    def one(number: Array, key: PRNGKeyArray) -> Array:
        return jr.uniform(jr.fold_in(key, number))

    return jax.vmap(jax.vmap(one, (None, 0)), (0, None))(numbers, keys)


def choose(
    logits: Array,
    uniform: Array,
    choice: Choice,
    counts: Array,
    character: Array,
    left: Array,
) -> tuple[Array, Array]:
    """The next byte of every row, and how far into a UTF-8 character it leads.

    Args:
        logits: {batch, vocab}.
        uniform: Where in the distribution to pick, in [0, 1).
        counts: How often each byte stands in the window, for the repetition penalty.
        character: How far into a character the bytes before are.
        left: How many bytes may still follow this one.
    """
    penalty = choice.repetition_penalty
    logits = jnp.where(counts > 0, jnp.where(logits > 0, logits / penalty, logits * penalty), logits)
    allowed = (jnp.asarray(choice.bytes_to_come)[character] <= left) | ~choice.utf8
    logits = jnp.where(allowed, logits, -jnp.inf)
    greedy = jnp.argmax(logits, -1)
    kept = jnp.where(_survivors(logits / choice.temperature, choice), _weights(logits / choice.temperature), 0.0)
    reached = _running_sum(kept)
    # Just below 1, so that rounding cannot point past the last byte.
    aim = jnp.minimum(uniform, 1.0 - 1e-6)[:, None] * reached[:, -1:]
    chosen = jnp.where(choice.temperature > 0, jnp.argmax((reached > aim) & (kept > 0), -1), greedy).astype(jnp.int32)
    return chosen, jnp.asarray(choice.next_state)[character, chosen]


def _survivors(logits: Array, choice: Choice) -> Array:
    """Which bytes top-k, then top-p among those, then min-p leave; bytes that tie with the last of them stay."""
    # As whole numbers in the same order, which XLA sorts ten times faster on CPUs than floats.
    order = _ordered_integers(logits)
    descending = ~jax.lax.sort(~order, dimension=-1, is_stable=False)
    weights = _weights(_from_ordered_integers(descending))
    weights = jnp.where(jnp.arange(weights.shape[-1]) < choice.top_k, weights, 0.0)
    reached = _running_sum(weights)
    stays = (weights > 0) & (weights >= choice.min_p * weights[:, :1])
    stays &= (reached - weights < choice.top_p * reached[:, -1:]) | (choice.top_p >= 1.0)
    last = jnp.maximum(stays.sum(-1, keepdims=True), 1) - 1
    return order >= jnp.take_along_axis(descending, last, -1)


def _weights(logits: Array) -> Array:
    """Probabilities relative to that of the most probable byte."""
    return jnp.exp(logits - logits.max(-1, keepdims=True))


def _running_sum(x: Array) -> Array:
    """Sums up to each entry, in two levels of small matrix products: `cumsum` is a chain of 20 kernels on CPUs."""
    count = x.shape[-1]
    side = math.isqrt(count - 1) + 1
    rows = jnp.pad(x, ((0, 0), (0, side * side - count))).reshape(-1, side, side)
    within = rows @ jnp.triu(jnp.ones((side, side)))
    before = within[:, :, -1] @ jnp.triu(jnp.ones((side, side)), 1)
    return (within + before[:, :, None]).reshape(len(x), -1)[:, :count]


def _ordered_integers(x: Array) -> Array:
    """Integers in the order of the floats: the bit pattern, with the value bits of negative numbers inverted."""
    bits = jax.lax.bitcast_convert_type(x, jnp.int32)
    return jnp.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


def _from_ordered_integers(bits: Array) -> Array:
    return jax.lax.bitcast_convert_type(jnp.where(bits < 0, bits ^ 0x7FFFFFFF, bits), jnp.float32)
