"""Spectra against whole matrices and against matrices whose spectrum is known."""

import dataclasses

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import tipshare
from tests.analysis.grid import TEXT, each_source
from tests.factories import GRID, build, cells, frozen
from tipshare import analysis
from tipshare.analysis.texts import read_text


def rows(weight, *order: str) -> np.ndarray:
    return np.asarray(weight.rearrange(order).array, np.float64)


def nearest(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest distance from an expected eigenvalue to the nearest found one that is still free."""
    left, worst = list(found), 0.0
    for value in sorted(expected, key=abs, reverse=True):
        place = int(np.argmin(np.abs(np.array(left) - value)))
        worst = max(worst, abs(left.pop(place) - value))
    return worst


@each_source
def test_spectra_are_those_of_the_whole_matrices_at_every_depth(config):
    model = build(config)
    found = analysis.spectra(model)
    assert set(found) == {"query-key", "value-output"} | ({"up-down"} if config.mixer == "mlp" else set())
    for step, t in enumerate(found["query-key"].t):
        block = model.at(t)
        weights = analysis.effective_weights(block)
        qkv = rows(weights["attention_in"], "qkv", "heads", "embed", "head_size")
        output = rows(weights["attention_out"], "heads", "head_size", "embed")
        products = {"query-key": qkv[0] @ qkv[1].swapaxes(1, 2), "value-output": qkv[2] @ output}
        if config.mixer == "mlp":
            products["up-down"] = (rows(weights["up"], "embed", "mlp") @ rows(weights["down"], "mlp", "embed"))[None]
        for name, matrices in products.items():
            for head, matrix in enumerate(matrices):
                eigenvalues, singular = found[name].eigenvalues[step, head], found[name].singular_values[step, head]
                count = len(eigenvalues)
                direct = np.linalg.eigvals(matrix)
                assert nearest(eigenvalues, direct[np.argsort(-np.abs(direct))][:count]) < 1e-6
                assert (np.diff(np.abs(eigenvalues)) <= 1e-12).all()
                assert_allclose(singular, np.linalg.svd(matrix, compute_uv=False)[:count], atol=1e-6)
            assert_allclose(
                found[name].radius[step], [max(abs(np.linalg.eigvals(each))) for each in matrices], atol=1e-6
            )
            # Of the whole matrix, whose other eigenvalues are 0.
            largest = [max(np.linalg.eigvals(each).real) for each in matrices]
            assert_allclose(np.maximum(found[name].largest_real[step], 0.0), np.maximum(largest, 0.0), atol=1e-6)


def test_a_frozen_model_has_the_spectra_of_the_live_one():
    config = GRID["neural-ode"]
    live, still = analysis.spectra(build(config)), analysis.spectra(frozen(config))
    for name in live:
        assert_allclose(live[name].singular_values, still[name].singular_values, atol=1e-5)


def test_spectra_between_depth_steps_are_those_of_the_weights_there():
    model = build(GRID["time-indexed-mlp"])
    found = analysis.spectrum(model, "up-down", [0.37])
    up, down = (
        rows(getattr(model.at(0.37).mixer, name).effective_weight, *axes)
        for name, axes in (("up", ("embed", "mlp")), ("down", ("mlp", "embed")))
    )
    assert_allclose(found.singular_values[0, 0], np.linalg.svd(up @ down, compute_uv=False), atol=1e-6)
    with pytest.raises(ValueError, match=r"t=0.4 lies between layers"):
        analysis.spectra(build(GRID["standard"]), [0.4])


def with_mlp(matrix: np.ndarray) -> tipshare.LanguageModel:
    """A model of one layer whose up-down product is this matrix."""
    size = len(matrix)
    config = tipshare.StandardConfig(
        hidden_dim=size, num_heads=2, num_layers=1, mlp_ratio=1.0, max_position_embeddings=4
    )
    model = config.build(key=jax.random.key(0))

    def weights(model):
        return model.block.mixer.up.weight, model.block.mixer.down.weight

    up, down = weights(model)
    one = dataclasses.replace(up, array=jnp.asarray(matrix, jnp.float32)[None].reshape(up.array.shape))
    other = dataclasses.replace(down, array=jnp.eye(size).reshape(down.array.shape))
    return eqx.tree_at(weights, model, (one, other))


def test_an_identity_has_one_eigenvalue_and_full_rank():
    found = analysis.spectrum(with_mlp(np.eye(8)), "up-down")
    assert_allclose(found.eigenvalues, np.ones((1, 1, 8)), atol=1e-6)
    assert_allclose([found.radius, found.largest_real, found.magnitude], 1.0, atol=1e-6)
    assert_allclose(found.rank, 8.0, rtol=1e-6)


def test_a_rotation_keeps_its_imaginary_parts():
    angles = np.repeat([0.3, 1.1, 2.0, 2.9], 2)
    matrix = np.zeros((8, 8))
    for place in (0, 2, 4, 6):
        cosine, sine = np.cos(angles[place]), np.sin(angles[place])
        matrix[place : place + 2, place : place + 2] = [[cosine, sine], [-sine, cosine]]
    found = analysis.spectrum(with_mlp(matrix), "up-down").eigenvalues[0, 0]
    signs = np.tile([1, -1], 4)
    assert nearest(found, np.exp(1j * angles * signs)) < 1e-6


def test_a_random_matrix_follows_the_circular_law():
    """Entries N(0, 1/n): eigenvalues spread evenly over the unit disk (Girko; Tao & Vu)."""
    size = 128
    noise = np.random.default_rng(0).standard_normal((size, size)) / np.sqrt(size)
    found = analysis.spectrum(with_mlp(noise), "up-down")
    magnitudes = np.abs(found.eigenvalues[0, 0])
    assert found.radius[0, 0] == pytest.approx(1.0, abs=0.1)
    assert found.magnitude[0, 0] == pytest.approx(2 / 3, abs=0.03)
    assert np.mean(magnitudes < 0.5) == pytest.approx(0.25, abs=0.06)
    assert found.rank[0, 0] == pytest.approx(size * np.exp(-0.27), rel=0.15)  # of singular values by the quarter circle


def test_effective_rank_counts_equal_directions():
    ranks = analysis.effective_rank(np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert_allclose(ranks, [2.0, 1.0, 0.0])


STATE_SPACES = ("time-indexed-ssm", "own ssm", "bare state space", "generated-gated ssm")


@pytest.mark.parametrize("config", cells({name: GRID[name] for name in STATE_SPACES}))
def test_poles_are_what_is_left_of_a_disturbed_state(config):
    model = build(config)
    found = analysis.ssm_poles(model, TEXT)
    read = read_text(model, TEXT)
    tokens = hax.named(read.ids, "position")
    path = model.hidden(tokens, keep_path=True)[1]
    states = [model.embed(tokens), *(path["depth", step] for step in range(model.steps))]
    step_size = model.step_size(model.steps)
    for step, t in enumerate(found.t):
        block, x = model.at(t), states[step]
        attended = block.attention.run(block.attention_norm(x))[0]
        inner = block.mixer_norm(x if block.parallel else x + step_size * attended)
        _, state = block.mixer.run(inner["position", :1])
        rest = inner["position", 1:]
        ends = [
            block.mixer.run(rest, dataclasses.replace(state, h=state.h + change))[1].h.array for change in (0.0, 1.0)
        ]
        assert_allclose(found.poles[step, 1:].prod(axis=0), ends[1] - ends[0], atol=1e-4)
    assert ((found.poles > 0) & (found.poles < 1)).all()
    assert_allclose(found.exponents, np.log(found.poles).mean(axis=1), rtol=1e-6)
    assert_allclose(found.time_constants * found.exponents, -1.0)


def test_what_a_model_does_not_have_is_said_in_words():
    ssm, mlp = build(GRID["time-indexed-ssm"]), build(GRID["time-indexed-mlp"])
    with pytest.raises(ValueError, match="this model has no product 'up-down'; it has query-key, value-output"):
        analysis.spectrum(ssm, "up-down")
    with pytest.raises(ValueError, match="this model has no state space"):
        analysis.ssm_poles(mlp, TEXT)
    with pytest.raises(ValueError, match=r"t=0.0 is not a depth: t lies in \(0, 1\]"):
        analysis.spectra(mlp, [0.0])
    with pytest.raises(ValueError, match=r"t=\[\] must be a list of depths"):
        analysis.spectra(mlp, [])
    with pytest.raises(ValueError, match="weights of this model are NaN or infinite"):
        analysis.spectra(
            eqx.tree_at(lambda each: each.block.mixer.up.layer.weight, mlp, replace_fn=lambda w: w * np.nan)
        )
