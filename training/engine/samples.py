"""A short text written by a model in training, to look at."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array

from tipshare.model.language_model import LanguageModel
from tipshare.text.tokenizer import BEGIN, decode

TEMPERATURE = 0.8


def sample_text(model: LanguageModel, *, seed: int, count: int = 120) -> str:
    """Bytes drawn one after the other, starting after a line end; as many as the context holds at most."""
    count = min(count, model.config.max_position_embeddings - 1)
    return decode(np.asarray(_sample(model, jr.key(seed), count))[1:])


@eqx.filter_jit
def _sample(model: LanguageModel, key: Array, count: int) -> Array:
    """The start byte and `count` more. Each pass reads the whole text: slow beside a decoder, but for a line or two."""
    frozen = model.freeze()

    def draw(number: Array, text: Array) -> Array:
        logits = frozen(text).array[number - 1]
        drawn = jr.categorical(jr.fold_in(key, number), logits / TEMPERATURE)
        return text.at[number].set(drawn.astype(jnp.int32))

    start = jnp.full(count + 1, BEGIN, jnp.int32)
    return jax.lax.fori_loop(1, count + 1, draw, start)
