"""Cached decoding against full recomputation by the model itself."""

import dataclasses
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from haliax import Axis

from tests.compiling import compiler_environment
from tests.factories import GRID, cells, each_kind, fill, logits_of
from tests.factories import SMALL as GRID_SIZES
from tipshare import KINDS, NeuralOdeConfig, TimeIndexedMlpConfig, TimeIndexedSsmConfig
from tipshare.config import ModelConfig
from tipshare.generation.cached_pass import CHUNK, read, write
from tipshare.generation.sampling import Choice, Sampling
from tipshare.generation.streaming import generate, slide
from tipshare.generation.unrolled import MOST_UNROLLED, Unrolled, unroll
from tipshare.model.depth import SOLVERS, advance
from tipshare.model.language_model import LanguageModel
from tipshare.model.positions import Place
from tipshare.text.tokenizer import BYTES

ROOT = Path(__file__).parents[2]
CONTEXT = 24
SMALL = {
    "num_layers": 2,
    "hidden_dim": 16,
    "num_heads": 2,
    "max_position_embeddings": CONTEXT,
    "state_dim": 8,
    "time_dim": 4,
}
# Beside the cells of the grid: biases where a gate stands, and what the cells have one by one together.
CASES = {
    **GRID,
    "generated ssm, no positions": NeuralOdeConfig(mixer="ssm", positions="none", **GRID_SIZES),
    "biases": TimeIndexedSsmConfig(use_bias=True, timed_final_norm=True, time_network="separate", **GRID_SIZES),
    "gated, with biases and a convolution": TimeIndexedMlpConfig(
        use_bias=True, attention_convolution_width=3, step="euler", **GRID_SIZES
    ),
}


def build(kind: str, changes: dict, seed: int = 0) -> LanguageModel:
    """A small model whose norms, biases and gates are away from their starting values."""
    return fill(KINDS[kind](**{**SMALL, **changes}), seed)


def test_only_the_models_that_wrote_last_stay_unrolled():
    model = build("time-indexed-mlp", {})
    first = unroll(model, 2)
    assert unroll(model, 2) is first
    for steps in range(3, 3 + MOST_UNROLLED):
        unroll(model, steps)
    assert unroll(model, 2 + MOST_UNROLLED) is unroll(model, 2 + MOST_UNROLLED)
    assert unroll(model, 2) is not first


def full_logits(model: LanguageModel, text: np.ndarray, **depth: Any) -> np.ndarray:
    """Logits after every byte, all positions at once, each attending to the last `context` bytes: the reference."""
    context = model.config.max_position_embeddings
    longest = context if model.config.positions == "learned" else 4 * context
    padded = np.pad(text, (0, longest - len(text)))  # on the right, which nothing before can see
    return np.asarray(_full_logits(unroll(model, **depth), jnp.asarray(padded)))[: len(text)]


@jax.jit
def _full_logits(unrolled: Unrolled, text: jax.Array) -> jax.Array:
    """The blocks without caches; only the mask of attention is made narrower."""
    Position = Axis("position", len(text))
    place = Place.from_start(Position, None if unrolled.angles is None else unrolled.angles.HeadSize)
    KeyPosition = Position.alias("key_position")
    distance = hax.arange(Position).broadcast_axis(KeyPosition) - hax.arange(KeyPosition)
    place = dataclasses.replace(place, visible=place.visible & (distance < unrolled.context))
    x = unrolled.embedding.take("vocab", hax.named(text, "position"))
    if unrolled.positions is not None:
        x = x + unrolled.positions
    count = len(SOLVERS[unrolled.solver].reads)
    for first in range(0, len(unrolled.blocks), count):
        block, *others = blocks = [each.tree for each in unrolled.blocks[first : first + count]]
        if others:
            slopes = [partial(each.slope, place=place) for each in blocks]
            x = advance(unrolled.solver, lambda number, x, slopes=slopes: slopes[number](x)[0], x, unrolled.step_size)
        else:
            x, _ = block.run(x, unrolled.step_size, place=place)
    return unrolled.head(unrolled.final_norm(x)).array


def decode(model: LanguageModel, prompts: list[np.ndarray], count: int, **depth: Any):
    """Texts of prompts written on greedily, and the logits of the byte after them."""
    packed, width = unroll(model, **depth), model.config.max_position_embeddings
    tokens = np.zeros((len(prompts), width), np.int32)
    for row, prompt in enumerate(prompts):
        tokens[row, width - len(prompt) :] = prompt
    reading = read(packed, tokens, np.array([len(each) for each in prompts], np.int32))
    choice = Choice.of(Sampling(max_bytes=count, temperature=0.0, utf8=False), BYTES)
    keys = jr.split(jr.key(0), len(prompts))
    texts = [list(prompt) for prompt in prompts]
    for done in range(0, count, CHUNK):
        size = min(CHUNK, count - done)
        reading, written = write(packed, reading, choice, keys, np.int32(done), np.int32(size))
        for row, text in enumerate(texts):
            text += np.asarray(written.ids)[:size, row].tolist()
    return [np.array(text, np.int32) for text in texts], np.asarray(reading.logits)


def random_text(length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, length).astype(np.int32)


def check_decoding(config: ModelConfig, **depth: Any) -> None:
    """Compare logits and greedy bytes with full recomputation, for rows of different lengths.

    The ring of keys and values goes round more than twice; learned positions end with the context.
    """
    model, context = fill(config), config.max_position_embeddings
    lengths, count = (1, 7, context, 5), 3 * context
    if config.positions == "learned":
        lengths, count = (1, 7, 5), context - 7
    prompts = [random_text(length, seed) for seed, length in enumerate(lengths)]
    texts, logits = decode(model, prompts, count, **depth)
    for prompt, text, ours in zip(prompts, texts, logits, strict=True):
        reference = full_logits(model, text, **depth)
        np.testing.assert_allclose(ours, reference[-1], atol=1e-4)
        np.testing.assert_array_equal(text[len(prompt) :], reference[len(prompt) - 1 : -1].argmax(-1))


# Two layers are the fewest that have caches of their own; the kinds keep three.
SHALLOW = {name: config if name in KINDS else config.replace(num_layers=2) for name, config in CASES.items()}


@pytest.mark.parametrize("config", cells(SHALLOW))
def test_cached_decoding_equals_full_recomputation(config):
    check_decoding(config)


# As many evaluations of a block are compiled as steps times those of the solver: two steps have a first and a last one.
@pytest.mark.parametrize(
    "solver", ["midpoint", pytest.param("heun", marks=pytest.mark.slow), pytest.param("rk4", marks=pytest.mark.slow)]
)
def test_cached_decoding_has_a_cache_for_every_evaluation_of_a_solver(solver):
    check_decoding(CASES["gated, with biases and a convolution"], steps=2, solver=solver)
    config = CASES["Legendre features, dt in every generator"]
    check_decoding(config, steps=2, solver=solver)
    model, text = fill(config), random_text(config.max_position_embeddings)
    expected = eqx.filter_jit(model)(text, steps=2, solver=solver).array
    np.testing.assert_allclose(full_logits(model, text, steps=2, solver=solver), expected, atol=1e-4)


@pytest.mark.parametrize("name", ["smooth features of t, and dt", "Legendre features, dt in every generator"])
def test_cached_decoding_with_smooth_features_is_right_at_other_depths(name):
    check_decoding(CASES[name], steps=2)  # of models with three layers


# A process of its own, because XLA reads its flags once.
WITH_THE_OPTIMIZING_COMPILER = """
import jax
from tests.generation.test_cached_pass import GRID, KINDS, check_decoding
assert not jax.config.values["jax_disable_most_optimizations"]
for kind in KINDS:
    check_decoding(GRID[kind].replace(num_layers=2))
    print(kind)
"""


@pytest.mark.slow
def test_cached_decoding_is_right_with_the_optimizing_compiler():
    """XLA as users have it updates the caches in place, among other things; other tests switch most of that off."""
    usual = {name: value for name, value in os.environ.items() if name not in compiler_environment()}
    command = [sys.executable, "-c", WITH_THE_OPTIMIZING_COMPILER]
    done = subprocess.run(command, cwd=ROOT, env=usual, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(KINDS)


@each_kind
def test_the_reference_within_the_context_is_the_model_itself(config):
    model, text = fill(config), random_text(config.max_position_embeddings)
    np.testing.assert_allclose(full_logits(model, text), logits_of(model, text), atol=1e-4)


def test_the_window_matters():
    """The probe of the tests above: a text that leaves the window changes what follows unless attention forgets it."""
    model = build("standard", {"num_layers": 1})
    first, second = random_text(2 * CONTEXT, 1), random_text(2 * CONTEXT, 1)
    second[: CONTEXT - 1] = random_text(CONTEXT - 1, 2)
    one, other = full_logits(model, first), full_logits(model, second)
    assert np.abs(one[CONTEXT] - other[CONTEXT]).max() > 1e-3
    np.testing.assert_allclose(one[-1], other[-1], atol=1e-5)


def test_learned_positions_restart_from_half_a_context():
    context = 7
    model = build("time-indexed-ssm", {"positions": "learned", "max_position_embeddings": context})
    prompt, count = b"Of shoes"[: context - 1], 2 * context + 5
    written = list(generate(model, prompt, max_bytes=count, temperature=0.0, utf8=False).trace.data)
    call = eqx.filter_jit(model)
    window = np.array([BYTES.begin, *prompt], np.int32)
    for byte in written:
        logits = call(np.pad(window, (0, context - len(window)))).array[len(window) - 1]
        assert byte == int(logits.argmax())
        window = slide(np.append(window, byte), context)
        assert len(window) <= context


def test_another_number_of_depth_steps_is_another_function():
    model = build("time-indexed-mlp", {})
    text = random_text(9)
    packed = unroll(model, 3)
    logits = read(packed, text[None], np.array([9], np.int32)).logits[0]
    np.testing.assert_allclose(logits, eqx.filter_jit(model)(text, steps=3).array[-1], atol=1e-4)
    assert unroll(model, 3) is unroll(model, 3)
    with pytest.raises(ValueError, match="exactly 2 layers"):
        unroll(build("standard", {}), 3)


def test_shared_matrices_stay_one_array():
    layers = [block.tree for block in unroll(build("time-indexed-mlp", {})).blocks]
    assert layers[0].attention.qkv.weight.array is layers[1].attention.qkv.weight.array
    assert not np.allclose(layers[0].attention_norm.weight.array, layers[1].attention_norm.weight.array)


def test_rotary_angles_stay_exact_far_into_a_text():
    model = build("standard", {})
    angles, HeadSize = unroll(model).angles, model.config.HeadSize
    pairs = HeadSize.size // 2
    for position in (0, 5, 1023, 1024, 4_000, 1_000_000):
        exact = position * 10_000.0 ** (-np.arange(pairs) / pairs)
        cosine, sine = angles.at(jnp.int32(position))
        np.testing.assert_allclose(cosine.array[0], np.cos(exact), atol=1e-6)
        np.testing.assert_allclose(sine.array[0], np.sin(exact), atol=1e-6)
    from_start = Place.from_start(Axis("position", 6), HeadSize).rotation
    for one, many in zip(angles.at(jnp.int32(5)), from_start, strict=True):
        np.testing.assert_allclose(one["position", 0].array, many["position", 5].array, atol=1e-6)


def test_prompts_settings_and_seeds_share_compiled_code():
    model = build("time-indexed-ssm", {"hidden_dim": 8})
    generate(model, "a", max_bytes=3)
    read_before, write_before = read._cache_size(), write._cache_size()
    generate(model, "a longer prompt", max_bytes=40, temperature=0.3, top_k=3, top_p=0.5, seed=7, stop="x")
    generate(build("time-indexed-ssm", {"hidden_dim": 8}, seed=5), b"\xff", min_p=0.1, repetition_penalty=1.3)
    assert (read._cache_size(), write._cache_size()) == (read_before, write_before)
