"""Positions in a text: which of them see which, and their rotary angles."""

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from haliax import Axis, NamedArray
from jaxtyping import Array

# Far into a text, rotary angles come from tables for two digits of the position in this base: exact however long the
# text grows, where position times rate in float32 would be off by a twentieth of a radian after a million bytes.
ANGLE_BASE = 1024

# Cosine and sine of every rotary angle, each {position, half the head size}.
Rotation = tuple[NamedArray, NamedArray]


class Place(eqx.Module):
    """Where the positions of one pass stand in their texts."""

    visible: NamedArray  # position, key_position, and batch where texts differ: which keys each query may see
    rotation: Rotation | None = None  # None when positions are not rotary
    is_text: NamedArray | None = None  # batch, position: False in the padding before a text; None without padding
    slot: NamedArray | int = 0  # where in the ring of cached keys and values those of the first position go

    @staticmethod
    def from_start(Position: Axis, RotaryHead: Axis | None, is_text: NamedArray | None = None) -> "Place":
        """Positions 0, 1, ..., each of which sees itself and what comes before; `RotaryHead` is rotated by position."""
        # Keys have a position axis of another name: with one name for both, the mask would compare each position with
        # itself only and every query would see the future.
        KeyPosition = Position.alias("key_position")
        visible = hax.arange(Position).broadcast_axis(KeyPosition) >= hax.arange(KeyPosition)
        if is_text is not None:
            visible = is_text.rename({"position": "key_position"}).broadcast_axis(Position) & visible
        # Worked out here and not in the compiled code, which would do it again for every head of every text.
        rotation = None
        if RotaryHead is not None:
            cosine, sine = _turns(np.arange(Position.size), RotaryHead)
            rotation = _rotation(jnp.asarray(cosine), jnp.asarray(sine), RotaryHead)
        return Place(visible, rotation, is_text)


def keep_text(x: NamedArray, place: Place | None) -> NamedArray:
    """`x` with zeros in the padding before the texts."""
    return x if place is None or place.is_text is None else hax.where(place.is_text, x, 0.0)


class AngleTables(eqx.Module):
    """Rotary angles of any single position, from the two digits of its number by angle addition."""

    low: Array  # cosine | sine, ANGLE_BASE, pair: of every rate times 0, 1, 2, ...
    high: Array  # cosine | sine, as many as the longest text needs, pair: times 0, ANGLE_BASE, 2 ANGLE_BASE, ...
    HeadSize: Axis = eqx.field(static=True)

    @staticmethod
    def init(HeadSize: Axis, longest: int) -> "AngleTables":
        digits = np.arange(ANGLE_BASE), np.arange(longest // ANGLE_BASE + 2) * ANGLE_BASE
        low, high = jax.device_put([_turns(each, HeadSize) for each in digits])
        return AngleTables(low, high, HeadSize)

    def at(self, position: Array) -> Rotation:
        low, high = (
            jax.lax.dynamic_index_in_dim(table, digit, axis=1)
            for table, digit in (
                (self.low, jax.lax.rem(position, ANGLE_BASE)),
                (self.high, jax.lax.div(position, ANGLE_BASE)),
            )
        )
        (low_cosine, low_sine), (high_cosine, high_sine) = low, high
        cosine = high_cosine * low_cosine - high_sine * low_sine
        sine = high_sine * low_cosine + high_cosine * low_sine
        return _rotation(cosine, sine, self.HeadSize)


def rotate(x: NamedArray, rotation: Rotation) -> NamedArray:
    """Rotary positions: turn each pair of units by an angle that grows with the position (Su et al., 2021)."""
    *Lead, HeadSize = x.axes
    # On plain arrays: this is the one place where named ones would take long to trace.
    half = HeadSize.size // 2
    axes = (*Lead, HeadSize.resize(half))
    cosine, sine = (each.astype(x.dtype).broadcast_to(axes).array for each in rotation)
    # Not by `split`, whose gradient costs a copy.
    left, right = (jax.lax.slice_in_dim(x.array, at, at + half, axis=-1) for at in (0, half))
    return hax.named(jnp.concatenate([left * cosine - right * sine, right * cosine + left * sine], axis=-1), x.axes)


def _turns(positions: np.ndarray, HeadSize: Axis) -> np.ndarray:
    """Cosine and sine of every rate at some positions."""
    pairs = HeadSize.size // 2
    angles = positions[:, None] * 10_000.0 ** (-np.arange(pairs) / pairs)
    return np.stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def _rotation(cosine: Array, sine: Array, HeadSize: Axis) -> Rotation:
    axes = (Axis("position", cosine.shape[0]), HeadSize.resize(cosine.shape[1]))
    return hax.named(cosine, axes), hax.named(sine, axes)
