"""Between the depths that a model was trained at its gates are smooth, and not an alias of something that swings."""

import haliax as hax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import tipshare
from tipshare.config import KINDS, ModelConfig, TimeFeatures
from tipshare.model.block import gate_values
from tipshare.model.depth import FASTEST_WAVE, turns_of_time
from tipshare.model.language_model import LanguageModel

GRID = 0.0005
# Rounding moves the mean of a gate by less than this between two points of the grid.
ROUNDING = 1e-6
GATED = ("time-indexed-mlp", "time-indexed-ssm")


def extrema_of_gates(model: LanguageModel) -> dict[str, int]:
    """How often the mean of each gate turns from rising to falling or back, for t from 0 to 1."""
    t = hax.named(jnp.arange(1, round(1 / GRID) + 1, dtype=jnp.float32) * GRID, "depth")
    found = {}
    for name, gate in gate_values(model.blocks_at(t)).items():
        others = tuple(axis.name for axis in gate.axes if axis.name != "depth")
        mean = np.asarray((hax.mean(gate, others) if others else gate).array, np.float64)
        changes = np.diff(mean)
        rises = changes[np.abs(changes) > ROUNDING] > 0
        found[name] = int((rises[1:] != rises[:-1]).sum())
    return found


def most_extrema(turns: float) -> int:
    """What features of so many turns allow: two extrema a turn, and twice as many behind a network, since a bent wave
    holds the double of its frequency (the square of a sine does).
    """
    return round(4 * turns)


def build(kind: str, features: TimeFeatures, frequencies: int) -> LanguageModel:
    config = KINDS[kind](hidden_dim=32, num_heads=4, time_features=features, time_frequencies=frequencies)
    return config.build(key=jr.key(0))


@pytest.mark.parametrize("kind", GATED)
def test_gates_of_the_bundled_models_turn_no_more_often_than_their_features(kind):
    model = tipshare.load(kind, dtype="float32")
    found = extrema_of_gates(model)
    assert found
    assert max(found.values()) <= most_extrema(turns_of_time(model.config)), found


@pytest.mark.parametrize(("features", "frequencies"), [("smooth", 32), ("legendre", 8)])
@pytest.mark.parametrize("kind", GATED)
def test_smooth_features_give_smooth_gates(kind, features, frequencies):
    model = build(kind, features, frequencies)
    assert 0 < max(extrema_of_gates(model).values()) <= most_extrema(turns_of_time(model.config))


@pytest.mark.parametrize("kind", GATED)
def test_the_published_features_do_not(kind):
    """The same limit finds every gate of theirs: between two of six depth steps they swing many times."""
    found = extrema_of_gates(build(kind, "published", 32))
    assert min(found.values()) > most_extrema(FASTEST_WAVE / 2), found


def test_features_say_how_often_they_turn():
    config: ModelConfig = KINDS["time-indexed-ssm"]()
    assert turns_of_time(config) == 2
    assert most_extrema(turns_of_time(config)) == 8
    assert turns_of_time(config.replace(time_features="legendre", time_frequencies=8, step_features=True)) == 4
