"""Configs: validated, frozen, JSON both ways; presets and parameter counts."""

import dataclasses
import json
import math

import equinox as eqx
import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tipshare
from tests.factories import GRID, SMALL, fill
from tipshare import ModelConfig
from tipshare.config import (
    Activation,
    Branches,
    Gate,
    Mixer,
    Positions,
    Step,
    Time,
    TimeFeatures,
    TimeNetwork,
    weight_sources,
)
from tipshare.validation import check_number, check_whole

BAD = [
    ({"num_heads": 3}, "not a multiple of num_heads"),
    ({"num_layers": 0}, "num_layers=0 must be a whole number"),
    ({"hidden_dim": -8}, "hidden_dim=-8"),
    ({"hidden_dim": 2**40}, "at most 1048576"),
    ({"num_layers": 2.0}, "num_layers=2.0"),
    ({"num_layers": True}, "num_layers=True"),
    ({"vocab_size": "256"}, "vocab_size='256'"),
    ({"attn_pdrop": math.nan}, "attn_pdrop=nan must be a finite number"),
    ({"resid_pdrop": 1.0}, "below 1"),
    ({"embd_pdrop": -0.1}, "at least 0"),
    ({"gate_start": math.inf}, "finite"),
    ({"weights": "borrowed"}, "own, generated, gated, tied"),
    ({"positions": "absolute"}, "rotary, learned, none"),
    ({"activation_function": "gelo"}, "gelu"),
    ({"use_bias": 1}, "true or false"),
    ({"use_bias": None}, "true or false"),
    ({"mlp_ratio": 0.0}, "no MLP unit"),
    ({"hidden_dim": 6, "num_heads": 2}, "rotary positions rotate pairs"),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[str(changes) for changes, _ in BAD])
def test_bad_configs_are_refused_in_words(changes, message):
    with pytest.raises(ValueError, match=message):
        tipshare.StandardConfig(**changes)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "transformer"}, "unknown model kind 'transformer'; the kinds are neural-ode, standard"),
        ({}, "unknown model kind None"),
        ({"kind": ["standard"]}, "unknown model kind"),
        ({"kind": "standard", "width": 3}, "unknown field 'width'"),
        ([], "JSON object"),
    ],
)
def test_bad_json_is_refused_in_words(fields, message):
    with pytest.raises(ValueError, match=message):
        ModelConfig.from_json(json.dumps(fields))


def test_numbers_of_numpy_become_plain_ones():
    config = tipshare.StandardConfig(hidden_dim=np.int64(8), mlp_ratio=np.float32(2.0))
    assert (type(config.hidden_dim), type(config.mlp_ratio)) == (int, float)
    assert ModelConfig.from_json(config.to_json()) == config


def test_whole_numbers_where_floats_are_meant_become_floats():
    """A gate that starts at the whole number 0 would be a gate of whole numbers, which cannot be trained."""
    config = tipshare.ModelConfig.from_json('{"kind": "time-indexed-ssm", "gate_start": 0}')
    assert (type(config.gate_start), type(config.num_layers)) == (float, int)


@pytest.mark.parametrize("value", [True, 0, 8, 2.0, "3", None, math.nan])
def test_a_whole_number_is_one_within_its_bounds(value):
    with pytest.raises(ValueError, match=f"^count={value!r} must be a whole number, at least 1 and at most 7$"):
        check_whole("count", value, 1, 7)
    assert check_whole("count", np.int64(7), 1, 7) == 7


@pytest.mark.parametrize("value", [False, 0, 1.5, math.inf, math.nan, "1", None])
def test_a_number_is_finite_and_within_its_bounds(value):
    with pytest.raises(ValueError, match=f"^share={value!r} must be a finite number, above 0 and at most 1$"):
        check_number("share", value, above=0.0, most=1.0)
    assert check_number("share", np.float32(0.5), above=0.0, most=1.0) == 0.5
    assert check_number("share", -3) == -3.0


def test_text_that_is_no_json_is_refused():
    with pytest.raises(ValueError, match="must be JSON"):
        ModelConfig.from_json("{")


def test_the_base_class_is_abstract_and_configs_are_frozen():
    with pytest.raises(ValueError, match="abstract"):
        ModelConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        tipshare.StandardConfig().num_layers = 3
    with pytest.raises(ValueError, match="unknown field 'layers'"):
        tipshare.StandardConfig().replace(layers=3)


def choice(literal):
    return st.sampled_from(literal.__args__)


# Few sizes, all choices: what breaks is a combination of choices, and equal sizes share compilations.
valid_configs = st.builds(
    lambda kind, **fields: tipshare.KINDS[kind](hidden_dim=8, **fields),
    kind=st.sampled_from(sorted(tipshare.KINDS)),
    num_heads=st.sampled_from([1, 2, 4]),
    num_layers=st.sampled_from([1, 3]),
    vocab_size=st.sampled_from([1, 300]),
    max_position_embeddings=st.sampled_from([1, 6]),
    weights=st.sampled_from(weight_sources()),
    mixer=choice(Mixer),
    step=choice(Step),
    time=choice(Time),
    branches=choice(Branches),
    positions=choice(Positions),
    time_network=choice(TimeNetwork),
    gate=choice(Gate),
    activation_function=choice(Activation),
    mlp_ratio=st.sampled_from([0.5, 1.5]),
    state_dim=st.sampled_from([1, 4]),
    convolution_width=st.sampled_from([1, 4]),
    attention_convolution_width=st.sampled_from([0, 3]),
    time_features=choice(TimeFeatures),
    time_frequencies=st.sampled_from([1, 4]),
    step_features=st.booleans(),
    time_dim=st.sampled_from([1, 5]),
    use_bias=st.booleans(),
    attention_bias=st.sampled_from([None, True, False]),
    timed_final_norm=st.booleans(),
    gradient_checkpointing=st.booleans(),
    attn_pdrop=st.sampled_from([0.0, 0.5]),
    resid_pdrop=st.sampled_from([0.0, 0.5]),
    embd_pdrop=st.sampled_from([0.0, 0.5]),
)


@settings(max_examples=30, deadline=None)
@given(config=valid_configs)
def test_random_valid_configs_round_trip_and_count(config):
    assert ModelConfig.from_json(config.to_json()) == config
    assert ModelConfig.from_dict(json.loads(config.to_json())) == config
    assert tipshare.count_parameters(config).total > 0


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(config=valid_configs, dropout=st.booleans())
def test_random_valid_configs_build_and_run(config, dropout):
    model = config.build(key=jax.random.key(0))
    tokens = np.arange(2 * config.max_position_embeddings).reshape(2, -1) % config.vocab_size
    compute_loss = eqx.filter_jit(type(model).compute_loss)
    loss = compute_loss(model, tokens, tokens, key=jax.random.key(1) if dropout else None)
    assert np.isfinite(loss)
    if not dropout:
        assert float(compute_loss(model.freeze(), tokens, tokens)) == pytest.approx(float(loss), abs=1e-4)


def test_fields_left_out_of_json_take_the_defaults_of_the_kind():
    assert ModelConfig.from_dict({"kind": "time-indexed-ssm"}) == tipshare.TimeIndexedSsmConfig()


@pytest.mark.parametrize(
    ("kind", "name", "parameters"),
    [
        ("standard", "published", 308_460_480),
        ("neural-ode", "published", 51_512_960),
        ("time-indexed-mlp", "published", 715_840),
        ("time-indexed-ssm", "published", 4_901_760),
        ("time-indexed-ssm", "published-large", 9_411_600),
        ("standard", "published-large", 617_430_932),
        ("time-indexed-mlp", "published-large", 956_684),
    ],
)
def test_published_presets_have_the_published_parameter_counts(kind, name, parameters):
    assert tipshare.count_parameters(tipshare.preset(kind, name)).total == parameters


def test_default_presets_keep_within_their_budgets():
    totals = {kind: tipshare.count_parameters(tipshare.preset(kind)).total for kind in tipshare.KINDS}
    assert 4_800_000 <= totals["standard"] <= 4_900_000
    assert totals["time-indexed-mlp"] <= 700_000
    assert totals["time-indexed-ssm"] <= 810_000
    assert totals["neural-ode"] <= 14_000_000


def test_parts_add_up_to_every_stored_number():
    for name, config in GRID.items():
        model = fill(config)
        stored = sum(leaf.size for leaf in jax.tree.leaves(model))
        counts = tipshare.count_parameters(model)
        assert counts.total == stored, name
        assert (counts.gates > 0) >= (config.weights == "gated"), name
        assert (counts.gates == 0) >= (config.weights in ("own", "tied")), name
        assert (counts.generators > 0) >= ("generated" in config.weights), name


def test_one_field_leads_from_a_kind_to_its_ablations():
    own_ssm = tipshare.TimeIndexedSsmConfig(weights="own", **SMALL)
    tied = tipshare.TimeIndexedMlpConfig(weights="tied", **SMALL)
    assert (
        tipshare.count_parameters(own_ssm).block == 3 * tipshare.count_parameters(own_ssm.replace(weights="tied")).block
    )
    assert tipshare.count_parameters(tied).gates == 0


def test_unknown_presets_list_the_known_ones():
    with pytest.raises(ValueError, match="default, published, published-large"):
        tipshare.preset("standard", "best")
    with pytest.raises(ValueError, match="no neural-ode"):
        tipshare.preset("neural-ode", "published-large")
    with pytest.raises(ValueError, match="unknown model kind"):
        tipshare.preset("mamba")
