"""What a config asks for: never less than what XLA allocates, and not many times more."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tipshare
from tests.factories import SMALL, build, each_config
from tipshare.analysis import demand_of
from tipshare.analysis.scoring import scoring_shape, window_losses
from tipshare.generation.cached_pass import read
from tipshare.generation.unrolled import unroll
from training.engine.costs import formula_flops_per_token

WIDE = {**SMALL, "hidden_dim": 64, "num_heads": 4, "max_position_embeddings": 512}


@each_config
def test_parameters_are_those_of_the_model(config):
    found = demand_of(config)
    assert found.parameters == tipshare.count_parameters(config).total
    assert found.effective == tipshare.count_parameters(config, frozen=True).total
    assert (found.positions, found.depth_steps) == (config.max_position_embeddings, config.num_layers)
    if not config.is_continuous:
        with pytest.raises(ValueError, match="has exactly 3 layers"):
            demand_of(config, steps=7)
    else:
        # A model that was fine-tuned at another depth, and one that is only run there.
        tuned, run = demand_of(config.replace(depth_steps=7)), demand_of(config, steps=7)
        assert (tuned.effective, tuned.depth_steps, tuned.entries_per_step) == (
            run.effective,
            run.depth_steps,
            run.entries_per_step,
        )
        deeper = eqx.filter_eval_shape(lambda: config.build(key=jax.random.key(0)).freeze(7))
        assert demand_of(config, steps=7).effective == tipshare.count_parameters(deeper).total
    tokens, width = 128, config.max_position_embeddings
    operations = demand_of(config.replace(max_position_embeddings=tokens)).scoring(tokens).operations / tokens
    assert formula_flops_per_token(config, tokens) <= operations < 1.6 * formula_flops_per_token(config, tokens) + width


@pytest.mark.parametrize("kind", tipshare.KINDS)
@pytest.mark.parametrize("length", [100, 3000])
def test_the_memory_of_scoring_is_what_xla_allocates_and_not_much_more(kind, length):
    config = tipshare.KINDS[kind](**WIDE)
    arrays, static = eqx.partition(build(config), eqx.is_array)
    shape = scoring_shape(length, config.max_position_embeddings)
    windows = np.zeros((shape.rows, shape.width + 1), np.int32)
    lowered = jax.jit(lambda arrays, ids: window_losses(eqx.combine(arrays, static), ids, None)).lower(arrays, windows)
    analysis = lowered.compile().memory_analysis()
    assert analysis is not None
    assert analysis.temp_size_in_bytes <= demand_of(config).scoring(length).memory < 3 * analysis.temp_size_in_bytes


@pytest.mark.parametrize("kind", ["standard", "time-indexed-ssm"])
def test_the_memory_of_writing_covers_the_caches_of_the_whole_context(kind):
    config = tipshare.KINDS[kind](**WIDE)
    unrolled = unroll(build(config))
    compiled = read.lower(unrolled, jnp.zeros((2, 32), jnp.int32), jnp.ones(2, jnp.int32)).compile()
    analysis = compiled.memory_analysis()
    assert analysis is not None
    taken = analysis.temp_size_in_bytes + analysis.output_size_in_bytes
    assert taken <= demand_of(config).writing(8, 100, texts=2).memory < 4 * taken
    assert demand_of(config).writing(8, 100).operations < demand_of(config).writing(8, 101).operations


def test_a_long_context_is_paid_for_by_long_texts_alone():
    """A few kilobytes of weights that ask for gigabytes, found out without building anything."""
    config = tipshare.TimeIndexedMlpConfig(**{**SMALL, "max_position_embeddings": 65_536, "num_layers": 1_024})
    found = demand_of(config)
    assert found.parameters < 12_000
    assert found.scoring(1).memory < 2e6 < 17e9 < found.scoring(65_536).memory
    assert found.writing(1, 1).memory > 8e9  # the caches hold the whole context at every depth step
    assert found.scoring(100).operations > 300 * demand_of(config.replace(num_layers=3)).scoring(100).operations / 3
    assert demand_of(config, steps=3).scoring(100).operations < found.scoring(100).operations / 200


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_a_text_has_a_whole_number_of_bytes(count):
    with pytest.raises(ValueError, match=f"num_bytes={count} must be a whole number"):
        demand_of(tipshare.StandardConfig()).scoring(count)
