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
from tipshare.generation.cached_layer import rotation_at
from tipshare.generation.cached_pass import CHUNK, read, write
from tipshare.generation.packing import pack
from tipshare.generation.sampling import Choice, Sampling
from tipshare.generation.streaming import generate, slide
from tipshare.model.attention import HIDDEN_SCORE, Attention, rotate
from tipshare.model.language_model import LanguageModel
from tipshare.text.tokenizer import BEGIN

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
    """The model's own blocks; only the mask of attention is made narrower."""
    context = model.config.max_position_embeddings
    frozen = model.freeze()
    wide = dataclasses.replace(frozen.config, max_position_embeddings=len(text))
    frozen = dataclasses.replace(frozen, config=wide)
    x = frozen.embed(hax.named(text, "position"))
    step_size = model.step_size(model.steps)
    for step in range(model.steps):
        block = hax.tree_util.tree_map(
            lambda leaf, step=step: (
                leaf["depth", step] if isinstance(leaf, hax.NamedArray) and leaf.has_axis("depth") else leaf
            ),
            frozen.block,
        )
        attended = attend_in_window(block.attention, block.attention_norm(x), context)
        after = x + step_size * attended
        x = after + step_size * block.mixer(block.mixer_norm(x if block.parallel else after))
    return frozen.unembed(x).rearrange(("position", "vocab")).array


def attend_in_window(attention: Attention, x: hax.NamedArray, context: int) -> hax.NamedArray:
    if attention.convolution is not None:
        x = x + attention.convolution(x)
    query, key, value = attention.project(x)
    Position = query.resolve_axis("position")
    KeyPosition = Position.alias("key_position")
    key, value = (array.rename({"position": "key_position"}) for array in (key, value))
    scores = hax.dot(query, key, axis="head_size") / np.sqrt(query.axis_size("head_size"))
    distance = hax.arange(Position).broadcast_axis(KeyPosition) - hax.arange(KeyPosition)
    scores = hax.where((distance >= 0) & (distance < context), scores, HIDDEN_SCORE)
    return attention.output(hax.dot(hax.nn.softmax(scores, KeyPosition), value, axis=KeyPosition))


def decode(model: LanguageModel, prompts: list[np.ndarray], count: int, width: int = CONTEXT):
    """Texts of prompts written on greedily, and the logits of the byte after them."""
    packed = pack(model)
    tokens = np.zeros((len(prompts), width), np.int32)
    for row, prompt in enumerate(prompts):
        tokens[row, width - len(prompt) :] = prompt
    reading = read(packed.weights, packed.shape, tokens, np.array([len(each) for each in prompts], np.int32))
    choice = Choice.of(Sampling(max_bytes=count, temperature=0.0, utf8=False))
    keys = jr.split(jr.key(0), len(prompts))
    texts = [list(prompt) for prompt in prompts]
    for done in range(0, count, CHUNK):
        size = min(CHUNK, count - done)
        reading, written = write(packed.weights, packed.shape, reading, choice, keys, np.int32(done), np.int32(size))
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
    window = np.array([BEGIN, *prompt], np.int32)
    for byte in written:
        logits = call(np.pad(window, (0, context - len(window)))).array[len(window) - 1]
        assert byte == int(logits.argmax())
        window = slide(np.append(window, byte), context)
        assert len(window) <= context


def test_another_number_of_depth_steps_is_another_function():
    model = build("time-indexed-mlp", {})
    text = random_text(9)
    packed = pack(model, 3)
    logits = read(packed.weights, packed.shape, text[None], np.array([9], np.int32)).logits[0]
    np.testing.assert_allclose(logits, eqx.filter_jit(model)(text, steps=3).array[-1], atol=1e-4)
    assert pack(model, 3) is pack(model, 3)
    with pytest.raises(ValueError, match="exactly 2 layers"):
        pack(build("standard", {}), 3)


def test_shared_matrices_stay_one_array():
    layers = pack(build("time-indexed-mlp", {})).weights.layers
    assert layers[0].qkv.weight is layers[1].qkv.weight
    assert not np.allclose(layers[0].attention_norm.weight, layers[1].attention_norm.weight)


def test_rotary_angles_stay_exact_far_into_a_text():
    model = build("standard", {})
    angles = pack(model).weights.angles
    pairs = model.config.HeadSize.size // 2
    for position in (0, 5, 1023, 1024, 4_000, 1_000_000):
        exact = position * 10_000.0 ** (-np.arange(pairs) / pairs)
        cosine, sine = rotation_at(angles, jnp.int32(position))
        np.testing.assert_allclose(cosine, np.cos(exact), atol=1e-6)
        np.testing.assert_allclose(sine, np.sin(exact), atol=1e-6)
    x = hax.random.normal(jr.key(0), (Axis("position", 3), Axis("head_size", 2 * pairs)))
    left, right = np.split(np.asarray(x.array), 2, axis=-1)
    cosine, sine = rotation_at(angles, jnp.arange(3))
    np.testing.assert_allclose(rotate(x).array[:, :pairs], left * cosine - right * sine, atol=1e-6)


def test_prompts_settings_and_seeds_share_compiled_code():
    model = build("time-indexed-ssm", {"hidden_dim": 8})
    generate(model, "a", max_bytes=3)
    read_before, write_before = read._cache_size(), write._cache_size()
    generate(model, "a longer prompt", max_bytes=40, temperature=0.3, top_k=3, top_p=0.5, seed=7, stop="x")
    generate(build("time-indexed-ssm", {"hidden_dim": 8}, seed=5), b"\xff", min_p=0.1, repetition_penalty=1.3)
    assert (read._cache_size(), write._cache_size()) == (read_before, write_before)
