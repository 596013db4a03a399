"""Positions in a text: which of them see which, and their rotary angles."""

import equinox as eqx
import haliax as hax
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
    slot: Array | None = None  # where the ring of cached keys takes the first position; None without cached keys

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
        rotation = None if RotaryHead is None else _rotation(_turns(np.arange(Position.size), RotaryHead), RotaryHead)
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
        high = np.arange(longest // ANGLE_BASE + 2) * ANGLE_BASE
        return AngleTables(_turns(np.arange(ANGLE_BASE), HeadSize), _turns(high, HeadSize), HeadSize)

    def at(self, position: Array) -> Rotation:
        low_cosine, low_sine = self.low[:, position % ANGLE_BASE]
        high_cosine, high_sine = self.high[:, position // ANGLE_BASE]
        cosine = high_cosine * low_cosine - high_sine * low_sine
        sine = high_sine * low_cosine + high_cosine * low_sine
        return _rotation(jnp.stack([cosine, sine])[:, None], self.HeadSize)


def rotate(x: NamedArray, rotation: Rotation) -> NamedArray:
    """Rotary positions: turn each pair of units by an angle that grows with the position (Su et al., 2021)."""
    HeadSize = x.resolve_axis("head_size")
    half = HeadSize.size // 2
    cosine, sine = (each.astype(x.dtype) for each in rotation)
    left, right = x["head_size", :half], x["head_size", half:]
    return hax.concatenate(HeadSize, [left * cosine - right * sine, right * cosine + left * sine])


def _turns(positions: np.ndarray, HeadSize: Axis) -> Array:
    """Cosine and sine of every rate at some positions."""
    pairs = HeadSize.size // 2
    angles = positions[:, None] * 10_000.0 ** (-np.arange(pairs) / pairs)
    return jnp.asarray(np.stack([np.cos(angles), np.sin(angles)]), jnp.float32)


def _rotation(turns: Array, HeadSize: Axis) -> Rotation:
    axes = (Axis("position", turns.shape[1]), HeadSize.resize(turns.shape[2]))
    return hax.named(turns[0], axes), hax.named(turns[1], axes)
