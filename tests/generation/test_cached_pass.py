"""Cached decoding against full recomputation by the model itself."""

import dataclasses

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from haliax import Axis

from tests.factories import fill
from tipshare import KINDS
from tipshare.generation.cached_pass import CHUNK, read, write
from tipshare.generation.sampling import Choice, Sampling
from tipshare.generation.streaming import generate, slide
from tipshare.generation.unrolled import unroll
from tipshare.model.language_model import LanguageModel
from tipshare.model.positions import Place
from tipshare.text.tokenizer import BYTES

CONTEXT = 24
SMALL = {
    "num_layers": 2,
    "hidden_dim": 16,
    "num_heads": 2,
    "max_position_embeddings": CONTEXT,
    "state_dim": 8,
    "time_dim": 4,
}
CASES = {
    "standard": ("standard", {}),
    "neural-ode": ("neural-ode", {}),
    "time-indexed-mlp": ("time-indexed-mlp", {}),
    "time-indexed-ssm": ("time-indexed-ssm", {}),
    "attention-convolution": ("time-indexed-mlp", {"attention_convolution_width": 3}),
    "generated-ssm": ("neural-ode", {"mixer": "ssm", "positions": "none"}),
    "biases": ("time-indexed-ssm", {"use_bias": True, "timed_final_norm": True, "time_network": "separate"}),
}


def build(kind: str, changes: dict, seed: int = 0) -> LanguageModel:
    """A small model whose norms, biases and gates are away from their starting values."""
    return fill(KINDS[kind](**{**SMALL, **changes}), seed)


@pytest.fixture(scope="module", params=CASES)
def model(request: pytest.FixtureRequest) -> LanguageModel:
    kind, changes = CASES[request.param]
    return build(kind, changes)


LONGEST = 4 * CONTEXT


def full_logits(model: LanguageModel, text: np.ndarray) -> np.ndarray:
    """Logits after every byte, all positions at once, each attending to the last `context` bytes: the reference."""
    padded = np.pad(text, (0, LONGEST - len(text)))  # on the right, which nothing before can see
    return np.asarray(_full_logits(model, jnp.asarray(padded)))[: len(text)]


@eqx.filter_jit
def _full_logits(model: LanguageModel, text: jax.Array) -> jax.Array:
    """The model's own blocks, without caches; only the mask of attention is made narrower."""
    config = model.config
    Position = Axis("position", len(text))
    place = Place.from_start(Position, config.HeadSize if config.positions == "rotary" else None)
    KeyPosition = Position.alias("key_position")
    distance = hax.arange(Position).broadcast_axis(KeyPosition) - hax.arange(KeyPosition)
    place = dataclasses.replace(place, visible=place.visible & (distance < config.max_position_embeddings))
    wide = dataclasses.replace(model, config=config.replace(max_position_embeddings=len(text)))
    x = wide.embed(hax.named(text, "position"))
    for step in range(model.steps):
        x, _ = model.at((step + 1) / model.steps).run(x, model.step_size(model.steps), place=place)
    return model.unembed(x).rearrange(("position", "vocab")).array


def decode(model: LanguageModel, prompts: list[np.ndarray], count: int, width: int = CONTEXT):
    """Texts of prompts written on greedily, and the logits of the byte after them."""
    packed = unroll(model)
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


def test_cached_decoding_equals_full_recomputation(model):
    """From inside the context until the ring of keys and values has been round twice, rows of different lengths."""
    prompts = [random_text(1, 1), random_text(17, 2), random_text(CONTEXT, 3), random_text(9, 4)]
    texts, logits = decode(model, prompts, 3 * CONTEXT)
    for prompt, text, ours in zip(prompts, texts, logits, strict=True):
        reference = full_logits(model, text)
        np.testing.assert_allclose(ours, reference[-1], atol=1e-4)
        np.testing.assert_array_equal(text[len(prompt) :], reference[len(prompt) - 1 : -1].argmax(-1))


def test_the_reference_within_the_context_is_the_model_itself():
    model, text = build("time-indexed-ssm", {}), random_text(CONTEXT)
    np.testing.assert_allclose(full_logits(model, text), eqx.filter_jit(model)(text).array, atol=1e-4)


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
