"""Token ids as they are given to a model: named arrays or plain ones, checked where they enter."""

import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
from haliax import NamedArray
from jax.core import Tracer
from jaxtyping import Array

from tipshare.config import ModelConfig

Tokens = NamedArray | np.ndarray | Array | list


def to_named(tokens: Tokens, config: ModelConfig, name: str = "tokens") -> NamedArray:
    """Token ids for a model as a named integer array with a `position` axis, or a ValueError."""
    if not isinstance(tokens, NamedArray):
        plain = tokens if isinstance(tokens, jax.Array) else np.asarray(tokens)
        if plain.ndim not in (1, 2):
            raise ValueError(f"{name} have {plain.ndim} dimensions; give (position) or (batch, position)")
        axis_names = ("batch", "position")[-plain.ndim :]
        tokens = hax.named(jnp.asarray(plain), axis_names)
    if not jnp.issubdtype(tokens.dtype, jnp.integer):
        raise ValueError(f"{name} are {tokens.dtype}, but token ids are integers")
    if not tokens.has_axis("position"):
        raise ValueError(f"{name} need an axis named 'position', but have {tokens.axes}")
    length = tokens.axis_size("position")
    if not 1 <= length <= config.max_position_embeddings:
        raise ValueError(
            f"{name} have {length} positions; this model takes 1 to {config.max_position_embeddings} "
            "(max_position_embeddings)"
        )
    # Under jit the values are not known yet; JAX then clamps what is out of range.
    if tokens.array.size and not isinstance(tokens.array, Tracer):
        values = np.asarray(tokens.array)
        least, most = int(values.min()), int(values.max())
        if least < 0 or most >= config.vocab_size:
            raise ValueError(f"{name} run from {least} to {most}; ids must lie in 0 .. {config.vocab_size - 1}")
    return tokens.astype(jnp.int32)
