"""Causal self-attention with several heads."""

import math
from typing import ClassVar

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.layers import GateSlot, Linear, ShortConvolution, dropout
from tipshare.model.positions import Place, keep_text, rotate

# Positions no query may look at get this score; finite, so that a row with no visible key stays free of NaN.
HIDDEN_SCORE = -1e9
# Root mean square of the entries of normed queries and keys: scores stay below 1.21 times the root of the head's size.
NORMED_SIZE = 1.1


class AttentionCache(eqx.Module):
    """What attention remembers of the text so far."""

    # Texts and heads are one axis: with two, XLA makes the shape that the matrix product wants in a second copy of the
    # keys, and copies all of it for every byte instead of updating it in place.
    keys: NamedArray  # row, key_position, head_size; already rotated
    values: NamedArray  # row, key_position, head_size
    before: NamedArray | None  # the last few inputs of the short convolution

    def open_ring(self, context: int) -> "AttentionCache":
        """With room for `context` positions, of which later ones take the place of the first."""

        def pad(x: NamedArray) -> NamedArray:
            unused = ((0, 0), (0, context - x.axis_size("key_position")), (0, 0))
            return hax.named(jnp.pad(x.array, unused), tuple(axis.name for axis in x.axes))

        return AttentionCache(pad(self.keys), pad(self.values), self.before)


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
    normed: bool = eqx.field(static=True, default=False)

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
            normed=config.query_key_norm,
        )

    def run(
        self,
        x: NamedArray,
        cache: AttentionCache | None = None,
        place: Place | None = None,
        *,
        key: PRNGKeyArray | None = None,
    ) -> tuple[NamedArray, AttentionCache]:
        """Read on after what `cache` holds (None: from the start of a text); also return the cache after `x`.

        Args:
            place: Where the positions of `x` stand; None for texts that begin with `x` and have no padding. A cache
                needs one.
        """
        if place is None:
            HeadSize = self.qkv.Out[-1]
            place = Place.from_start(x.resolve_axis("position"), HeadSize if self.rotary else None)
        query, keys, values, before = self.project(x, place, None if cache is None else cache.before)
        Lead = tuple(axis for axis in query.axes if axis.name not in ("position", "head_size"))
        query, keys, values = (_to_rows(each, Lead) for each in (query, keys, values))
        keys, values = (each.rename({"position": "key_position"}) for each in (keys, values))
        if cache is not None:
            keys, values = (
                ring.updated_slice({"key_position": place.slot}, new)
                for ring, new in ((cache.keys, keys), (cache.values, values))
            )
        visible = place.visible
        if visible.ndim > 2:  # it differs between texts, but not between their heads
            visible = _to_rows(visible.broadcast_axis([axis for axis in Lead if not visible.has_axis(axis.name)]), Lead)
        mixed = attend(query, keys, values, visible, self.drop_rate, key)
        return self.output(mixed.unflatten_axis("row", Lead)), AttentionCache(keys, values, before)

    def project(
        self, x: NamedArray, place: Place, before: NamedArray | None = None
    ) -> tuple[NamedArray, NamedArray, NamedArray, NamedArray | None]:
        """Queries and keys, normed and rotated, and values, {..., heads, position, head_size}; and the last inputs of
        the convolution.

        Args:
            before: The last inputs of the convolution in what comes before `x`.
        """
        if self.convolution is not None:
            x = keep_text(x, place)
            mixed, before = self.convolution.run(x, before)
            x = x + mixed
        query, keys, values = self.qkv.call_unbound(x, "qkv")
        if self.normed:
            query, keys = scale_to_size(query), scale_to_size(keys)
        if place.rotation is not None:
            query, keys = rotate(query, place.rotation), rotate(keys, place.rotation)
        return query, keys, values, before


def scale_to_size(x: NamedArray) -> NamedArray:
    """Vectors of one size, whose directions alone decide a score (Dehghani et al., 2023); computed in float32."""
    wide = x.astype(jnp.float32)
    size = hax.sqrt(hax.mean(hax.square(wide), "head_size") + 1e-6)
    return (wide * (NORMED_SIZE / size)).astype(x.dtype)


def attend(
    query: NamedArray,
    keys: NamedArray,
    values: NamedArray,
    visible: NamedArray,
    drop_rate: float = 0.0,
    dropout_key: PRNGKeyArray | None = None,
) -> NamedArray:
    """The values of the positions each query may see, averaged by the softmax of query-key products.

    Args:
        query: {row, position, head_size}; a row is one head of one text.
        keys: {row, key_position, head_size}, as `values`.
        visible: {position, key_position}, or with rows.
    """
    HeadSize, KeyPosition = query.resolve_axis("head_size"), keys.resolve_axis("key_position")
    scores = hax.dot(query / math.sqrt(HeadSize.size), keys, axis=HeadSize).astype(jnp.float32)
    scores = hax.where(visible, scores, HIDDEN_SCORE)
    # The softmax, but divided by its sum only after the product with the values: there are fewer of those than of keys.
    weights = hax.exp(scores - jax.lax.stop_gradient(hax.max(scores, KeyPosition)))
    total = hax.sum(weights, KeyPosition)
    weights = dropout(weights.astype(values.dtype), drop_rate, dropout_key)
    return (hax.dot(weights, values, axis=KeyPosition) / total).astype(values.dtype)


def _to_rows(x: NamedArray, Lead: tuple[Axis, ...]) -> NamedArray:
    """`x` with the axes `Lead` first and as one, so that each row is a matrix and products over it need no copies."""
    x = x.rearrange((*Lead, ...))
    count = len(Lead)
    return hax.named(x.array.reshape(-1, *x.array.shape[count:]), ("row", *x.axes[count:]))
