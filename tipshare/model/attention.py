"""Causal self-attention with several heads."""

import math
from typing import ClassVar

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.layers import GateSlot, Linear, ShortConvolution, dropout

# Positions no query may look at get this score; finite, so that a row with no visible key stays free of NaN.
HIDDEN_SCORE = -1e9


class Attention(eqx.Module):
    """Softmax attention over the positions up to and including the query's own."""

    gated: ClassVar[dict[str, GateSlot]] = {
        "attention_in": GateSlot("qkv", "input_scale"),
        "attention_out": GateSlot("output", "output_scale"),
    }

    convolution: ShortConvolution | None  # along positions, on what comes in
    qkv: Linear  # embed -> (query | key | value), heads, head_size
    output: Linear  # heads, head_size -> embed
    rotary: bool = eqx.field(static=True)
    drop_rate: float = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray, output_scale: float = 1.0) -> "Attention":
        k_convolution, k_qkv, k_output = jr.split(key, 3)
        Heads, HeadSize, width = config.Heads, config.HeadSize, config.attention_convolution_width
        bias = config.has_attention_bias
        return Attention(
            convolution=ShortConvolution.init(config.Embed, width, key=k_convolution) if width else None,
            qkv=Linear.init(config.Embed, (Axis("qkv", 3), Heads, HeadSize), key=k_qkv, use_bias=bias),
            output=Linear.init((Heads, HeadSize), config.Embed, key=k_output, use_bias=bias, scale=output_scale),
            rotary=config.positions == "rotary",
            drop_rate=config.attn_pdrop,
        )

    def __call__(self, x: NamedArray, *, key: PRNGKeyArray | None = None) -> NamedArray:
        if self.convolution is not None:
            x = x + self.convolution(x)
        query, key_vectors, value = self.project(x)
        mixed = attend(query, key_vectors, value, drop_rate=self.drop_rate, dropout_key=key)
        return self.output(mixed)

    def project(self, x: NamedArray, first: int = 0) -> tuple[NamedArray, NamedArray, NamedArray]:
        """Queries, keys and values of `x`, whose first position is number `first` of the text."""
        query, key, value = self.qkv.call_unbound(x, "qkv")
        if self.rotary:
            query, key = rotate(query, first), rotate(key, first)
        return query, key, value


def attend(
    query: NamedArray,
    key: NamedArray,
    value: NamedArray,
    *,
    drop_rate: float = 0.0,
    dropout_key: PRNGKeyArray | None = None,
) -> NamedArray:
    """The values of the positions each query may see, averaged by the softmax of query-key products.

    Keys and values get a position axis of another name: with one name for both, the mask would compare each position
    with itself only and every query would see the future.
    """
    query, key, value = (_heads_first(each) for each in (query, key, value))
    Position, HeadSize = query.resolve_axis("position"), query.resolve_axis("head_size")
    KeyPosition = Position.alias("key_position")
    key = key.rename({"position": "key_position"})
    value = value.rename({"position": "key_position"})
    scores = hax.dot(query / math.sqrt(HeadSize.size), key, axis=HeadSize).astype(jnp.float32)
    visible = hax.arange(Position).broadcast_axis(KeyPosition) >= hax.arange(KeyPosition)
    scores = hax.where(visible, scores, HIDDEN_SCORE)
    # The softmax, but divided by its sum only after the product with the values: there are fewer of those than of keys.
    weights = hax.exp(scores - jax.lax.stop_gradient(hax.max(scores, KeyPosition)))
    total = hax.sum(weights, KeyPosition)
    weights = dropout(weights.astype(value.dtype), drop_rate, dropout_key)
    return (hax.dot(weights, value, axis=KeyPosition) / total).astype(value.dtype)


def _heads_first(x: NamedArray) -> NamedArray:
    """The order of axes in which each head's positions are one matrix, so that products over them need no copies."""
    last = ("heads", "position", "head_size")
    return x.rearrange((*(axis.name for axis in x.axes if axis.name not in last), *last))


def rotate(x: NamedArray, first: int = 0) -> NamedArray:
    """Rotary positions: turn each pair of units by an angle that grows with the position (Su et al., 2021)."""
    Position, HeadSize = x.resolve_axis("position"), x.resolve_axis("head_size")
    Pair = HeadSize.resize(HeadSize.size // 2)
    # Worked out here and not in the compiled code, which would do it again for every head of every text.
    rates = 10_000.0 ** (-np.arange(Pair.size) / Pair.size)
    angles = (np.arange(Position.size) + first)[:, None] * rates
    cosine, sine = (hax.named(jnp.asarray(turn(angles), x.dtype), (Position, Pair)) for turn in (np.cos, np.sin))
    left, right = x["head_size", : Pair.size], x["head_size", Pair.size :]
    return hax.concatenate(HeadSize, [left * cosine - right * sine, right * cosine + left * sine])
