"""What a model says of itself: one line, or every array."""

import equinox as eqx
import jax
import numpy as np

import tipshare
from tests.factories import GRID, TOKENS, build, each_config, frozen


def test_the_repr_is_one_line_with_the_sizes():
    model = build(GRID["time-indexed-mlp"])
    count = tipshare.count_parameters(model).total
    assert repr(model) == (
        "LanguageModel(time-indexed-mlp, gated weights, width 16, context 12, 256 token ids, 3 depth steps, "
        f"{count:,} parameters)"
    )
    assert repr(frozen(GRID["time-indexed-mlp"])).endswith("parameters, frozen)")
    assert repr(eqx.filter_eval_shape(lambda: model)) == repr(model)


@each_config
def test_the_description_names_every_array(config):
    model = build(config)
    first, second, *lines = tipshare.describe(model).splitlines()
    assert first == repr(model)
    assert second == str(tipshare.count_parameters(model))
    assert len(lines) == len(jax.tree.leaves(model))
    sizes = [int(line.split()[-2].replace(",", "")) for line in lines]
    assert sum(sizes) == tipshare.count_parameters(model).total
    assert lines[0].split() == ["embedding", "vocab", "256,", "embed", "16", "4,096", "float32"]


def test_models_with_the_same_repr_are_compiled_apart():
    plain = build(GRID["time-indexed-mlp"])
    euler = build(GRID["time-indexed-mlp"].replace(step="euler"))
    assert repr(plain) == repr(euler)
    run = eqx.filter_jit(lambda model: model(TOKENS).array)
    assert np.abs(run(plain) - run(euler)).max() > 1e-3
    np.testing.assert_allclose(run(euler), eqx.filter_jit(lambda model: model(TOKENS).array)(euler), atol=1e-5)
