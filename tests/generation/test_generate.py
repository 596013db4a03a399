"""What `generate` and `stream` hand out, on good and bad input."""

import json

import equinox as eqx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import fill
from tipshare import TimeIndexedSsmConfig, generate, stream
from tipshare.__main__ import main
from tipshare.commands.generate import Generate, SamplingOptions
from tipshare.generation.pieces import Assembler, Trace
from tipshare.model.language_model import LanguageModel
from tipshare.text.tokenizer import BYTES

CONTEXT = 16
CONFIG = TimeIndexedSsmConfig(
    num_layers=2,
    hidden_dim=8,
    num_heads=2,
    max_position_embeddings=CONTEXT,
    state_dim=4,
    time_frequencies=2,
    time_dim=4,
)


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return fill(CONFIG)


SETTINGS = st.fixed_dictionaries(
    {
        "max_bytes": st.integers(0, 70),
        "temperature": st.one_of(st.just(0.0), st.floats(0.01, 10.0)),
        "top_k": st.one_of(st.none(), st.integers(1, 500)),
        "top_p": st.floats(0.01, 1.0),
        "min_p": st.floats(0.0, 1.0),
        "repetition_penalty": st.floats(0.2, 5.0),
        "seed": st.integers(0, 2**63 - 1),
        "stop": st.lists(st.text(min_size=1, max_size=3), max_size=2).map(tuple),
    }
)


@settings(max_examples=50, deadline=None)
@given(st.one_of(st.text(max_size=CONTEXT // 4), st.binary(max_size=CONTEXT)), SETTINGS, st.integers(1, 32))
def test_text_is_valid_short_enough_and_free_of_chunks(model, prompt, chosen, chunk):
    written = generate(model, prompt, **chosen)
    data = written.text.encode("utf-8")
    assert data == written.trace.data
    assert len(data) <= chosen["max_bytes"]
    assert not any(stop in written.text for stop in chosen["stop"])
    assert written.finish == "stop" or len(data) == chosen["max_bytes"]
    pieces = list(stream(model, prompt, chunk=chunk, **chosen))
    assert "".join(piece.text for piece in pieces) == written.text
    assert [piece.finish for piece in pieces[:-1]] == [None] * (len(pieces) - 1)
    assert pieces[-1].finish == written.finish


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40), st.lists(st.binary(min_size=1, max_size=3), max_size=2), st.data())
def test_pieces_of_any_bytes_join_to_the_text_up_to_the_stop(data, stops, draw):
    assembler = Assembler(Trace.empty(BYTES, 1), len(data) + 1, stops, whole_characters=False)
    text, rest = "", data
    while rest:
        cut = draw.draw(st.integers(1, len(rest)))
        piece = assembler.add(plain_trace(rest[:cut]))
        text, rest = text + (piece.text if piece else ""), rest[cut:]
    final = assembler.add(plain_trace(b"!"))
    text += final.text if final else ""
    whole = data + b"!"
    end = min([whole.find(stop) for stop in stops if stop in whole], default=len(whole))
    assert text == whole[:end].decode("utf-8", errors="replace")


def plain_trace(data: bytes) -> Trace:
    count = len(data)
    return Trace(
        BYTES, BYTES.encode(data), np.ones(count), np.ones(count, int), np.zeros((count, 1), int), np.ones((count, 1))
    )


def test_every_byte_comes_with_its_odds(model):
    written = generate(model, "ab", max_bytes=6, temperature=0.0, utf8=False)
    text = np.frombuffer(b"\nab" + written.trace.data, np.uint8).astype(np.int32)
    odds = np.exp(np.asarray(eqx.filter_jit(model)(text).array))
    odds /= odds.sum(-1, keepdims=True)
    assert len(written.trace) == 6
    for place, info in enumerate(written.trace):
        expected = odds[2 + place]
        assert info.rank == 1
        assert info.byte == written.trace.data[place] == expected.argmax() == info.alternatives[0][0]
        assert info.probability == pytest.approx(expected.max(), rel=1e-3)
        best = np.sort(expected)[::-1][:5]
        np.testing.assert_allclose([each for _, each in info.alternatives], best, rtol=1e-3)


def test_same_seed_same_text_alone_in_batches_and_among_samples(model):
    alone = generate(model, "one", max_bytes=40, seed=3)
    assert generate(model, "one", max_bytes=40, seed=3).text == alone.text
    assert generate(model, "one", max_bytes=40, seed=4).text != alone.text
    batch = generate(model, ["another, longer", "one", ""], max_bytes=40, seed=3)
    samples = generate(model, "one", samples=3, max_bytes=40, seed=3)
    assert batch[1].text == samples[0].text == alone.text
    assert len({each.text for each in samples}) == 3
    assert "".join(piece.text for piece in stream(model, "one", sample=2, max_bytes=40, seed=3)) == samples[2].text


@pytest.mark.parametrize(
    "prompt", ["", "\x00\x1b[2J\x7f", b"\xff\xfe\xc3", "🦊", "שלום", "é" * (CONTEXT // 2)], ids=ascii
)
def test_odd_prompts_work(model, prompt):
    assert generate(model, prompt, max_bytes=9).finish == "length"


def test_an_empty_prompt_starts_after_a_line_end(model):
    first = generate(model, "", max_bytes=1, temperature=0.0, utf8=False).trace[0]
    assert first.byte == int(np.asarray(eqx.filter_jit(model)(np.array([BYTES.begin])).array)[-1].argmax())


def test_a_long_prompt_keeps_its_end_and_says_so(model):
    long = "x" * 50 + "0123456789abcdef"
    with pytest.warns(UserWarning, match="66 bytes.*only the last 16 are read"):
        written = generate(model, long, max_bytes=10)
    assert written.unread_bytes == 50
    assert written.text == generate(model, long[-CONTEXT:], max_bytes=10).text
    with pytest.warns(UserWarning, match="only the last 16"):
        stream(model, long)


def test_bad_calls_are_refused_at_once(model):
    with pytest.raises(ValueError, match="a prompt is text or bytes, not int"):
        stream(model, 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="there is no prompt"):
        generate(model, [])
    with pytest.raises(ValueError, match="samples=0"):
        generate(model, "a", samples=0)
    with pytest.raises(ValueError, match="lone surrogate"):
        generate(model, "\ud800")
    with pytest.raises(ValueError, match="chunk=0"):
        stream(model, "a", chunk=0)
    with pytest.raises(ValueError, match="top_k=0"):
        stream(model, "a", top_k=0)
    small = fill(CONFIG.replace(vocab_size=100))
    with pytest.raises(ValueError, match="one per byte"):
        generate(small, "a")


def test_the_command_streams_text_or_json(model, capsys):
    settings_ = SamplingOptions(max_bytes=12, seed=1)
    expected = generate(model, "a", settings_)
    Generate(sampling=settings_).write(model, b"a" * 20)
    assert "only the last 16 are read" in capsys.readouterr().err
    Generate(sampling=settings_, json=True).write(model, b"a")
    answer = json.loads(capsys.readouterr().out)
    assert answer["text"] == expected.text
    assert answer["finish"] == "length"
    assert [each["byte"] for each in answer["bytes"]] == list(expected.trace.data)
    assert len(answer["bytes"][0]["alternatives"]) == 5


def test_the_command_loads_a_checkpoint_and_refuses_bad_settings(model, tmp_path, capsys):
    import tipshare.checkpoint as checkpoint

    checkpoint.save(model, tmp_path / "model")
    assert main(["generate", "a", "--checkpoint", str(tmp_path / "model"), "--max-bytes", "12", "--seed", "1"]) == 0
    assert capsys.readouterr().out == generate(model, "a", max_bytes=12, seed=1).text + "\n"
    assert main(["generate", "a", "--checkpoint", str(tmp_path / "model"), "--top-p", "0"]) == 2
    assert "top_p=0.0" in capsys.readouterr().err
    assert main(["generate", "a", "--checkpoint", str(tmp_path / "nothing")]) == 2
