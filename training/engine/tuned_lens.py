"""Train a tuned lens: one affine map per depth, so that what is read there comes close to the last prediction."""

from typing import Any

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tipshare.analysis.lens import TunedLens, lens_loss
from tipshare.checkpoint.tuned_lens import LensTraining
from tipshare.model.language_model import LanguageModel
from tipshare.validation import check_number, check_whole
from training.data.corpus import Corpus

# Windows on which a lens is judged before and after.
EVALUATION_WINDOWS = 32


def train_lens(
    model: LanguageModel,
    corpus: Corpus,
    *,
    num_steps: int = 300,
    batch_size: int = 16,
    length: int = 128,
    learning_rate: float = 2e-3,
    seed: int = 0,
) -> tuple[TunedLens, LensTraining]:
    """A tuned lens for a model at its trained depth steps, and what training it did.

    The sum over depths of KL(last prediction | prediction through the lens) is made small by Adam with a linearly
    falling learning rate (Belrose et al., 2023). The maps start as the logit lens; the model itself is not trained.
    """
    check_whole("num_steps", num_steps)
    check_whole("batch_size", batch_size)
    check_number("learning_rate", learning_rate, above=0.0)
    length = min(check_whole("length", length), model.config.max_position_embeddings)
    corpus.check_length(length)
    model = model.astype(jnp.float32)
    lens = TunedLens.start(model.steps, model.config.Embed)
    optimizer = optax.adam(optax.linear_schedule(learning_rate, 0.0, num_steps))
    state = optimizer.init(eqx.filter(lens, eqx.is_array))

    @eqx.filter_jit
    def step(lens: TunedLens, state: Any, model: LanguageModel, ids: np.ndarray) -> tuple[TunedLens, Any]:
        def total(lens: TunedLens) -> jax.Array:
            return lens_loss(lens, model, hax.named(ids, ("batch", "position"))).sum()

        gradient = eqx.filter_grad(total)(lens)
        updates, state = optimizer.update(gradient, state)
        return eqx.apply_updates(lens, updates), state

    judge = eqx.filter_jit(lens_loss)
    held_out = corpus.evaluation_windows("valid", EVALUATION_WINDOWS, length)[:, :-1].astype(np.int32)
    tokens = hax.named(held_out, ("batch", "position"))
    before = judge(lens, model, tokens)
    for number in range(num_steps):
        ids = corpus.windows("train", seed, number, batch_size, length)[:, :-1].astype(np.int32)
        lens, state = step(lens, state, model, ids)
    after = judge(lens, model, tokens)
    return lens, LensTraining(
        corpus=corpus.name,
        num_steps=num_steps,
        batch_size=batch_size,
        length=length,
        learning_rate=learning_rate,
        seed=seed,
        divergences_before=[float(each) for each in before],
        divergences_after=[float(each) for each in after],
    )
