"""Generated weights: how far one step of an optimizer moves them."""

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from haliax import Axis

from tipshare import NeuralOdeConfig
from tipshare.model.weights.generated import GeneratedArray, TimeMlp

Out = (Axis("embed", 24), Axis("hidden", 40))


def generate(time_dim: int) -> tuple[GeneratedArray, hax.NamedArray]:
    """A generated matrix that starts with a spread of 1, and time units as they leave the SiLU, at six depth steps."""
    Time = Axis("time", time_dim)
    array = GeneratedArray.init(hax.random.normal(jr.key(0), Out), None, Time, key=jr.key(1))
    return array, hax.nn.silu(hax.random.normal(jr.key(2), (Axis("depth", 6), Time)) * 0.6)


@pytest.mark.parametrize("time_dim", [4, 16, 64, 256])
def test_a_step_of_one_size_moves_the_weights_equally_far(time_dim: int) -> None:
    """Adam moves each entry by about the learning rate, in the direction of the gradient's sign."""
    array, time = generate(time_dim)
    push = hax.random.normal(jr.key(3), Out)
    gradient = eqx.filter_grad(lambda array: hax.sum(array.at(time["depth", 0]) * push).scalar())(array)
    stepped = jax.tree.map(lambda value, slope: value + 1e-3 * jnp.sign(slope), array, gradient)
    moved = hax.mean(hax.abs(stepped.at(time["depth", 0]) - array.at(time["depth", 0]))).item()
    units = float(np.mean(np.abs(np.asarray(time["depth", 0].array))))
    assert moved == pytest.approx(1e-3 * (1 + 64 * units), rel=1e-2)


@pytest.mark.parametrize("time_dim", [4, 16, 64, 256])
def test_the_start_differs_along_depth_as_much_as_from_zero(time_dim: int) -> None:
    array, time = generate(time_dim)
    varying = array.at(time) - array.base
    assert 0.4 < hax.std(varying).item() < 1.6


@pytest.mark.parametrize("time_dim", [4, 16, 64, 256])
def test_time_units_start_with_one_size(time_dim: int) -> None:
    config = NeuralOdeConfig(time_dim=time_dim)
    network = TimeMlp.init(config, key=jr.key(0))
    features = hax.random.normal(jr.key(1), (Axis("depth", 50), config.Features))
    units = network(features)
    assert hax.sqrt(hax.mean(hax.square(units))).item() == pytest.approx(0.36, rel=0.35)
