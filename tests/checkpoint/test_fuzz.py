"""Thousands of mutated files: the readers refuse them with our error, or read them, and do nothing else."""

import json
import shutil
import struct

import numpy as np
import pytest

import tipshare
from tests.checkpoint.configs import build_tiny, reseal
from tipshare import CheckpointError
from tipshare.checkpoint import checksums, config_file, read_folder
from tipshare.checkpoint.container import read_header
from tipshare.checkpoint.strict_json import parse_json

NASTY_BYTES = [b"\x00", b"\xff", b"{", b"}", b"[", b'"', b"-", b"9" * 40, b"1e999", b"NaN", b"null", b"../", b"\\u0000"]
NASTY_VALUES = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**40,
    1e308,
    "",
    "../..",
    "/etc/passwd",
    [],
    {},
    [[]],
    {"a": {}},
    "\x00",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tipshare.save(build_tiny("time-indexed-mlp"), tmp_path_factory.mktemp("fuzz") / "model")


def mutate_bytes(content: bytes, random: np.random.Generator) -> bytes:
    """Flip, cut, repeat or insert a few bytes."""
    changed = bytearray(content)
    for _ in range(int(random.integers(1, 4))):
        at = int(random.integers(len(changed) + 1))
        match int(random.integers(5)):
            case 0 if at < len(changed):
                changed[at] ^= 1 << int(random.integers(8))
            case 1:
                del changed[at : at + int(random.integers(1, 30))]
            case 2:
                changed[at:at] = changed[at : at + int(random.integers(1, 30))]
            case 3:
                changed[at:at] = NASTY_BYTES[int(random.integers(len(NASTY_BYTES)))]
            case _:
                del changed[at:]
    return bytes(changed)


def mutate_value(value: object, random: np.random.Generator) -> object:
    """Replace, drop or nest one part of a JSON value."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = list(value)[int(random.integers(len(value)))]
        changed = dict(value)
        match int(random.integers(8)):
            case 0:
                del changed[key]
            case 1:
                changed[str(NASTY_VALUES[int(random.integers(len(NASTY_VALUES)))])] = changed[key]
            case _:
                changed[key] = mutate_value(value[key], random)
        return changed
    if isinstance(value, list) and value and random.random() < 0.7:
        at = int(random.integers(len(value)))
        return [*value[:at], mutate_value(value[at], random), *value[at + 1 :]]
    return NASTY_VALUES[int(random.integers(len(NASTY_VALUES)))]


def survives(read, *arguments) -> bool:
    """Whether reading succeeds; any error but ours fails the test."""
    try:
        read(*arguments)
    except CheckpointError as error:
        reason = str(error)
    else:
        return True
    assert 0 < len(reason) < 2000
    return False


def test_mutated_headers(folder, tmp_path):
    content = (folder / "model.safetensors").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    head, data = content[: 8 + length], content[8 + length :]
    header, random, path = json.loads(head[8:]), np.random.default_rng(0), tmp_path / "model.safetensors"
    read = 0
    for number in range(2000):
        if number % 2:
            path.write_bytes(mutate_bytes(head, random) + data)
        else:
            text = json.dumps(mutate_value(header, random)).encode()
            path.write_bytes(struct.pack("<Q", len(text)) + text + data)
        read += survives(read_header, path)
    assert 0 < read < 1000  # some changes (of a name, say) leave a valid header


@pytest.mark.parametrize("name", ["config.json", "checksums.json"])
def test_mutated_json(folder, name):
    parse = {"config.json": config_file.parse, "checksums.json": checksums.parse}[name]
    content, random = (folder / name).read_bytes(), np.random.default_rng(1)
    fields = json.loads(content)
    read = 0
    for number in range(2000):
        text = mutate_bytes(content, random) if number % 2 else json.dumps(mutate_value(fields, random)).encode()
        read += survives(lambda text=text: parse(parse_json(text, name)))
    assert read < 1200


def test_mutated_folders(folder, tmp_path):
    """The whole reader, on folders in which one file was changed and the sums were not."""
    copy, random = shutil.copytree(folder, tmp_path / "model"), np.random.default_rng(2)
    for name in ("config.json", "checksums.json", "model.safetensors"):
        content = (folder / name).read_bytes()
        for _ in range(60):
            changed = mutate_bytes(content, random)
            (copy / name).write_bytes(changed)
            # Cutting and repeating can end where it began; spaces between JSON fields mean nothing.
            same = changed == content or (name == "checksums.json" and _same_json(changed, content))
            assert survives(lambda: read_folder(copy).verify()) == same
        (copy / name).write_bytes(content)


def test_mutated_models(folder, tmp_path):
    """Configs that a forger made fit their sums, up to working out the shapes of the model."""
    copy, random = shutil.copytree(folder, tmp_path / "model"), np.random.default_rng(3)
    fields = json.loads((folder / "config.json").read_text())
    sizes = [name for name, value in fields["model"].items() if type(value) in (int, float)]
    read = 0
    for _ in range(60):
        model = dict(fields["model"])
        for name in random.choice(sizes, size=2):
            model[name] = type(model[name])(random.choice([1, 3, 1000, 2**16, 2**20]))
        model["kind"] = str(random.choice(list(tipshare.KINDS)))
        (copy / "config.json").write_text(json.dumps({**fields, "model": model}))
        reseal(copy)
        read += survives(read_folder, copy)
    assert read < 60


def _same_json(left: bytes, right: bytes) -> bool:
    try:
        return json.loads(left)["files"] == json.loads(right)["files"]
    except (ValueError, KeyError, TypeError):
        return False


@pytest.mark.parametrize(
    "content", [b"", b"[" * 200_000, b'{"a":' * 50_000, b"9" * 10_000, b"\xff\xfe", b'{"a":1,"a":2}']
)
def test_json_that_was_made_to_hurt(content):
    with pytest.raises(CheckpointError, match="thing is not valid JSON"):
        parse_json(content, "thing")
