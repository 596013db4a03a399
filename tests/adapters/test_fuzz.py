"""Mutated adapter folders: they are refused with our error, or read, and nothing else happens."""

import json
import shutil
import struct

import numpy as np
import pytest

import tipshare
from tests.adapters.test_folder import adapt
from tests.checkpoint.configs import build_tiny, reseal
from tests.checkpoint.test_fuzz import NASTY_VALUES, mutate_bytes, mutate_value, survives
from tipshare import adapters
from tipshare.adapters.description import Description
from tipshare.checkpoint import read_folder
from tipshare.checkpoint.strict_json import parse_json

CONFIG, WEIGHTS, SUMS = "adapter_config.json", "adapter_model.safetensors", "checksums.json"


@pytest.fixture
def folder(tmp_path):
    base = tipshare.save(build_tiny("time-indexed-mlp"), tmp_path / "base")
    return adapters.save(adapt(build_tiny("time-indexed-mlp"), targets=("attention",)), tmp_path / "adapter", base)


def test_mutated_descriptions(folder):
    content, random = (folder / CONFIG).read_bytes(), np.random.default_rng(0)
    fields, read = json.loads(content), 0
    for number in range(2000):
        text = mutate_bytes(content, random) if number % 2 else json.dumps(mutate_value(fields, random)).encode()
        read += survives(lambda text=text: Description.from_fields(parse_json(text, CONFIG)))
    assert 0 < read < 1000  # a change of a digit or of the base's name, say, is a description too


def test_mutated_folders_that_a_forger_made_fit_their_sums(folder):
    random, read = np.random.default_rng(1), 0
    for name in (CONFIG, WEIGHTS, SUMS):
        content = (folder / name).read_bytes()
        for number in range(60):
            (folder / name).write_bytes(_mutated(name, content, number, random))
            if name != SUMS:
                reseal(folder)
            read += survives(read_folder, folder)
        (folder / name).write_bytes(content)
        reseal(folder)
    assert read_folder(folder).load().adapters is not None
    assert read < 120


def test_forged_settings_take_no_memory(folder):
    """Values that are valid by themselves, up to the shapes they ask for."""
    random = np.random.default_rng(2)
    fields = json.loads((folder / CONFIG).read_text())
    for _ in range(40):
        changed = {
            "rank": int(random.choice([1, 2, 4096])),
            "alpha": float(random.choice([1e-6, 4.0, 1e6])),
            "along_depth": str(random.choice(["shared", "per-depth", "time-indexed"])),
            "depth_steps": [None, 1, 2, 128][int(random.integers(4))],
            "to_layers": bool(random.integers(2)),
            "targets": [["*"], ["attention"], ["*.qkv", "mixer"], ["[", "?"]][int(random.integers(4))],
        }
        (folder / CONFIG).write_text(json.dumps({**fields, **changed}))
        reseal(folder)
        survives(lambda: read_folder(folder).load())


@pytest.mark.parametrize("value", NASTY_VALUES, ids=repr)
def test_nasty_names_of_bases(folder, value):
    fields = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**fields, "base": {**fields["base"], "name": value}}))
    reseal(folder)
    assert not survives(read_folder, folder)


def test_an_adapter_that_names_itself_as_its_base_ends(folder):
    fields = json.loads((folder / CONFIG).read_text())
    for name in (".", "../adapter"):
        (folder / CONFIG).write_text(json.dumps({**fields, "base": {**fields["base"], "name": name}}))
        reseal(folder)
        assert not survives(read_folder, folder)


def _mutated(name: str, content: bytes, number: int, random: np.random.Generator) -> bytes:
    """Changed bytes, or a changed JSON value of a file or of the header of a weights file."""
    if number % 2:
        return mutate_bytes(content, random)
    if name != WEIGHTS:
        return json.dumps(mutate_value(json.loads(content), random)).encode()
    length = struct.unpack("<Q", content[:8])[0]
    text = json.dumps(mutate_value(json.loads(content[8 : 8 + length]), random)).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def test_a_folder_of_both_kinds_is_an_adapter_or_nothing(folder, tmp_path):
    both = shutil.copytree(tmp_path / "base", tmp_path / "both")
    shutil.copy(folder / CONFIG, both / CONFIG)
    assert not survives(read_folder, both)
