"""Exponents and sensitivities: systems with a known answer, whole Jacobians, and finite differences in float64."""

import equinox as eqx
import haliax as hax
import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import tipshare
from tests.analysis.grid import TEXT, each_of_few
from tests.factories import GRID, SMALL, build, fill, frozen
from tipshare import analysis
from tipshare.analysis.texts import read_text

NOISE = np.random.default_rng(1)


def matrices(*each: np.ndarray) -> list:
    return [matrix.__matmul__ for matrix in each]


def test_a_constant_linear_system_has_the_logarithms_of_its_rates():
    basis = np.linalg.qr(NOISE.standard_normal((3, 3)))[0]
    matrix = basis @ np.diag([2.0, 1.0, 0.25]) @ basis.T
    found = analysis.exponents_of(matrices(*[matrix] * 40), 3, duration=40)
    assert_allclose(found.values, np.log([2.0, 1.0, 0.25]), atol=1e-9)
    assert found.is_complete


def test_what_leaves_float64_behind_still_has_its_exponents():
    matrix = np.triu(NOISE.standard_normal((4, 4)), 1) + np.diag([100.0, 3.0, 0.1, 1e-3])
    found = analysis.exponents_of(matrices(*[matrix] * 400), 4, duration=400)
    assert_allclose(found.values, np.log([100.0, 3.0, 0.1, 1e-3]), atol=0.01)


def test_a_rotation_neither_grows_nor_shrinks():
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    assert_allclose(analysis.exponents_of(matrices(*[turn] * 9), 2).values, 0.0, atol=1e-12)


def test_a_shear_grows_by_the_singular_values_of_the_product():
    shear = np.array([[1.0, 1.0], [0.0, 1.0]])
    # Five of them are [[1, 5], [0, 1]], whose singular values are (sqrt(29) +- 5) / 2.
    expected = np.log((np.sqrt(29) + np.array([5.0, -5.0])) / 2)
    assert_allclose(analysis.exponents_of(matrices(*[shear] * 5), 2).values, expected, atol=1e-12)


def test_few_directions_find_the_leading_exponents():
    basis = [np.linalg.qr(NOISE.standard_normal((12, 12)))[0] for _ in range(4)]
    rates = np.diag(2.0 ** -np.arange(12.0))
    steps = [basis[place + 1] @ rates @ basis[place].T for place in range(3)]
    found = analysis.exponents_of(
        matrices(*steps), 12, directions=3, pulls=[matrix.T.__matmul__ for matrix in steps], duration=3
    )
    assert_allclose(found.values, np.log(2.0) * np.array([0.0, -1.0, -2.0]), atol=1e-9)
    assert not found.is_complete
    with pytest.raises(ValueError, match="directions=3 of 12 need the transposed maps"):
        analysis.exponents_of(matrices(*steps), 12, directions=3)


def test_kaplan_yorke_of_known_spectra():
    assert analysis.kaplan_yorke([0.906, 0.0, -14.572]) == pytest.approx(2.0622, abs=1e-3)  # Lorenz
    assert analysis.kaplan_yorke([-1.0, -2.0]) == 0.0
    assert analysis.kaplan_yorke([1.0, -2.0]) == 1.5
    assert analysis.kaplan_yorke([1.0, 2.0]) == 2.0
    assert analysis.kaplan_yorke([2.0, 1.0], is_complete=False) is None


def whole_jacobian(model: tipshare.LanguageModel, steps: int | None = None) -> np.ndarray:
    """Of the last streams with respect to the embedded bytes, {position, embed, position, embed}."""
    number = steps or model.steps
    x = model.embed(hax.named(read_text(model, TEXT).ids, "position")).array

    def last(x: jax.Array) -> jax.Array:
        stream = hax.named(x, ("position", "embed"))
        for step in range(number):
            block = model.at((step + 1) / number)
            stream = block(stream, model.step_size(number))
        return stream.rearrange(("position", "embed")).array

    return np.asarray(jax.jit(jax.jacrev(last))(x), np.float64)


@each_of_few
def test_exponents_and_sensitivities_are_those_of_the_whole_jacobian(config):
    model = build(config)
    whole = whole_jacobian(model)
    places, width = whole.shape[:2]
    found = analysis.lyapunov_exponents(model, TEXT)
    direct = np.log(np.linalg.svd(whole.reshape(places * width, -1), compute_uv=False))
    assert found.is_complete
    # What is smallest drowns in the rounding of float32.
    seen = direct > direct[0] - 8
    assert_allclose(found.values[seen], direct[seen], atol=1e-3)
    leading = analysis.lyapunov_exponents(model, TEXT, directions=32)
    assert_allclose(leading.values[:3], direct[:3], atol=1e-3)
    assert (leading.values <= direct[:32] + 1e-3).all()

    place = 6
    sensed = analysis.sensitivity(model, TEXT, place)
    assert sensed.is_exact
    assert len(sensed.exponents) == place + 1  # later bytes have no say
    blocks = whole[place].swapaxes(0, 1)[: place + 1]
    assert_allclose(sensed.exponents, np.log(np.linalg.norm(blocks, 2, axis=(1, 2))), atol=1e-3)
    bound = analysis.sensitivity(model, TEXT, place, directions=6)
    assert (bound.exponents <= sensed.exponents + 1e-3).all()
    assert bound.exponents.argmax() == sensed.exponents.argmax()
    assert bound.exponents.max() == pytest.approx(sensed.exponents.max(), abs=0.02)
    assert_allclose(bound.gradients, sensed.gradients, rtol=1e-4)
    assert sensed.shares.sum() == pytest.approx(1.0)


def test_a_path_that_stands_still_has_exponents_of_zero():
    model = build(GRID["tied mlp"])

    def out(each):
        return each.block.attention.output, each.block.mixer.down

    silent = eqx.tree_at(
        out, model, [eqx.tree_at(lambda w: w.weight, layer, replace_fn=lambda a: a * 0.0) for layer in out(model)]
    )
    assert_allclose(analysis.lyapunov_exponents(silent, TEXT).values, 0.0, atol=1e-6)
    sensed = analysis.sensitivity(silent, TEXT)
    assert sensed.exponents[-1] == pytest.approx(0.0, abs=1e-6)
    assert (sensed.exponents[:-1] == -np.inf).all()
    assert_allclose(sensed.shares[:-1], 0.0)


def test_a_frozen_model_and_other_depth_steps():
    config = GRID["tied mlp"]
    live, still = analysis.sensitivity(build(config), TEXT), analysis.sensitivity(frozen(config), TEXT)
    assert_allclose(live.exponents, still.exponents, atol=1e-4)
    whole = whole_jacobian(build(config), steps=4)
    sensed = analysis.sensitivity(build(config), TEXT, 3, steps=4)
    assert_allclose(sensed.exponents, np.log(np.linalg.norm(whole[3].swapaxes(0, 1)[:4], 2, axis=(1, 2))), atol=1e-3)


class InFloat64:
    """The plain transformer written out in numpy: float64, one position and head at a time."""

    def __init__(self, model: tipshare.LanguageModel) -> None:
        self.model = model
        self.blocks = [model.at((step + 1) / model.steps) for step in range(model.steps)]

    def last_streams(self, x: np.ndarray) -> np.ndarray:
        for block in self.blocks:
            x = x + self._attention(block, self._norm(block.attention_norm, x))
            inner = self._norm(block.mixer_norm, x) @ self._of(block.mixer.up.weight, "embed", "mlp")
            inner = inner + self._of(block.mixer.up.bias)
            curve = 0.5 * inner * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
            x = x + curve @ self._of(block.mixer.down.weight, "mlp", "embed") + self._of(block.mixer.down.bias)
        return x

    def _attention(self, block, x: np.ndarray) -> np.ndarray:
        weight = self._of(block.attention.qkv.weight, "qkv", "heads", "embed", "head_size")
        query, key, value = x @ weight + self._of(block.attention.qkv.bias)[:, :, None]
        output = self._of(block.attention.output.weight, "heads", "head_size", "embed")
        rows = []
        for place in range(len(x)):
            scores = np.einsum("hd,hkd->hk", query[:, place], key[:, : place + 1]) / np.sqrt(key.shape[-1])
            share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
            rows.append(np.einsum("hk,hkd,hde->e", share, value[:, : place + 1], output))
        return np.array(rows) + self._of(block.attention.output.bias)

    def _norm(self, norm, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        return centred / deviation * self._of(norm.weight) + self._of(norm.bias)

    def _of(self, array, *order: str) -> np.ndarray:
        return np.asarray((array.rearrange(order) if order else array).array, np.float64)


def test_sensitivities_are_finite_differences_in_float64():
    model = fill(tipshare.StandardConfig(positions="none", query_key_norm=False, **SMALL))
    slow = InFloat64(model)
    ids = read_text(model, TEXT).ids
    x = np.asarray(model.embed(hax.named(ids, "position")).array, np.float64)
    assert_allclose(analysis.hidden_states(model, TEXT)[-1], slow.last_streams(x), atol=1e-4)
    place, small = len(ids) - 1, 1e-6
    sensed = analysis.sensitivity(model, TEXT, place)
    for byte in (0, 4, place):
        columns = []
        for unit in range(x.shape[1]):
            change = np.zeros_like(x)
            change[byte, unit] = small
            ends = [slow.last_streams(x + sign * change)[place] for sign in (1, -1)]
            columns.append((ends[0] - ends[1]) / (2 * small))
        assert sensed.exponents[byte] == pytest.approx(np.log(np.linalg.norm(np.array(columns), 2)), abs=1e-3)


def test_gradients_are_finite_differences_of_the_prediction():
    model = build(GRID["tied mlp"])
    sensed = analysis.sensitivity(model, TEXT)
    x = model.embed(hax.named(read_text(model, TEXT).ids, "position"))

    @jax.jit
    def log_prob(x: jax.Array) -> jax.Array:
        stream = hax.named(x, ("position", "embed"))
        for step in range(model.steps):
            stream = model.at((step + 1) / model.steps)(stream, model.step_size(model.steps))
        return jax.nn.log_softmax(model.unembed(stream)["position", -1].array)

    start = log_prob(x.array)
    assert int(start.argmax()) == sensed.predicted
    for byte in (0, 5, len(TEXT)):
        slopes = []
        for unit in range(x.axis_size("embed")):
            ends = [log_prob(x.array.at[byte, unit].add(sign * 1e-2))[sensed.predicted] for sign in (1, -1)]
            slopes.append(float(ends[0] - ends[1]) / 2e-2)
        assert sensed.gradients[byte] == pytest.approx(np.linalg.norm(slopes), rel=0.02)


@pytest.mark.parametrize("place", [10, -11, 2.0, True])
def test_a_place_outside_of_the_text_is_refused(place):
    with pytest.raises(ValueError, match=r"is not a position of this text: give 0 to 9, or -1 for the last"):
        analysis.sensitivity(build(GRID["tied mlp"]), TEXT, place)
