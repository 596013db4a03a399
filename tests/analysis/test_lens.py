"""Lenses against the model itself, and a tuned lens with a known answer."""

import dataclasses

import equinox as eqx
import haliax as hax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.analysis.grid import TEXT, each_source
from tests.factories import GRID, build, frozen
from tipshare import analysis
from tipshare.analysis.lens import lens_loss
from tipshare.analysis.texts import read_text


@each_source
def test_a_lens_reads_every_depth_and_ends_with_the_prediction(config):
    model = build(config)
    found = analysis.lens(model, TEXT)
    ids = read_text(model, TEXT).ids
    logits = np.asarray(model(ids).rearrange(("position", "vocab")).array, np.float64)
    log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    places = np.arange(len(ids) - 1)
    assert_allclose(found.losses[-1, :-1], -log_probs[places, ids[1:]], atol=1e-4)
    assert np.isnan(found.losses[:, -1]).all()
    assert_allclose(found.losses[-1, :-1], -model.score(TEXT).log_probs, atol=1e-4)
    assert_allclose(found.entropies[-1], -(np.exp(log_probs) * log_probs).sum(axis=1) / np.log(2), atol=1e-4)
    assert_allclose(found.divergences[-1], 0.0, atol=1e-9)
    assert (found.divergences > -1e-6).all()
    # Of the last byte, what the hidden path says.
    path = analysis.hidden_path(model, TEXT)
    assert_allclose(found.t, path.t)
    assert_allclose(found.probabilities[:, -1], path.probabilities, atol=1e-5)
    assert_allclose(found.entropies[:, -1], path.entropies, atol=1e-4)
    early = np.asarray(model.unembed(model.embed(hax.named(ids, "position"))).rearrange(("position", "vocab")).array)
    shares = np.exp(early) / np.exp(early).sum(axis=1, keepdims=True)
    last = np.exp(log_probs)
    assert_allclose(found.divergences[0], (last * (log_probs - np.log(shares))).sum(axis=1), atol=1e-3)
    settled = found.settled[3]
    assert (found.bytes[found.t >= settled, 3, 0] == found.bytes[-1, 3, 0]).all()


def test_frozen_models_and_other_depth_steps():
    config = GRID["neural-ode"]
    assert_allclose(analysis.lens(build(config), TEXT).losses, analysis.lens(frozen(config), TEXT).losses, atol=1e-4)
    assert len(analysis.lens(build(config), TEXT, steps=5).t) == 6


def test_a_tuned_lens_that_knows_what_is_added_predicts_as_the_last_depth():
    """Blocks that add a constant: at depth l the last stream is x plus what is still to come."""
    model = build(GRID["tied mlp"])

    def out(each):
        return each.block.attention.output, each.block.mixer.down

    constant = eqx.tree_at(
        out, model, [eqx.tree_at(lambda w: w.weight, layer, replace_fn=lambda a: a * 0.0) for layer in out(model)]
    )
    added = sum(layer.bias for layer in out(constant))
    lens = analysis.TunedLens.start(model.steps, model.config.Embed)
    left = hax.named(jnp.arange(model.steps, 0, -1, dtype=jnp.float32), "depth")
    knowing = dataclasses.replace(lens, bias=left.broadcast_axis(added.axes) * added)
    plain, tuned = analysis.lens(constant, TEXT), analysis.lens(constant, TEXT, tuned=knowing)
    assert plain.divergences[:-1].min() > 1e-4
    assert_allclose(tuned.divergences, 0.0, atol=1e-5)
    assert tuned.is_tuned
    tokens = hax.named(read_text(constant, TEXT).ids, "position")
    assert_allclose(lens_loss(knowing, constant, tokens), 0.0, atol=1e-5)
    assert_allclose(lens_loss(lens, constant, tokens), plain.divergences[:-1].mean(axis=1), atol=1e-4)


def test_a_new_tuned_lens_is_the_logit_lens_and_must_fit():
    model = build(GRID["time-indexed-ssm"])
    lens = analysis.TunedLens.start(3, model.config.Embed)
    plain, tuned = analysis.lens(model, TEXT), analysis.lens(model, TEXT, tuned=lens)
    assert_allclose(plain.losses, tuned.losses, atol=1e-5)
    with pytest.raises(ValueError, match="this tuned lens is for width 16 and 3 depth steps, not for width 16 and 4"):
        analysis.lens(model, TEXT, steps=4, tuned=lens)
