"""Files that somebody made with care: valid by themselves, and each asks for something that it must not get."""

import json
import shutil

import numpy as np
import pytest

import tipshare
from tests.checkpoint.configs import build_tiny, edit_json, reseal
from tests.hostile.folders import KIND, adapter_folders
from tests.hostile.limits import limited
from tests.hostile.mutations import NASTY_VALUES, draw
from tipshare import CheckpointError
from tipshare.checkpoint import read_folder
from tipshare.checkpoint.reading import parse_json

CONFIG = "adapter_config.json"


@pytest.fixture
def checkpoint(tmp_path):
    return tipshare.save(build_tiny(KIND), tmp_path / "model")


@pytest.fixture
def adapter(tmp_path):
    adapter_folders(tmp_path)
    return tmp_path / "adapter"


def test_sizes_of_models_are_no_way_to_memory(checkpoint):
    random = np.random.default_rng(3)
    fields = json.loads((checkpoint / "config.json").read_text())["model"]
    sizes = [name for name, value in fields.items() if type(value) in (int, float)]
    for _ in range(40):
        model = {**fields, "kind": draw(random, list(tipshare.KINDS))}
        for name in random.choice(sizes, size=2):
            model[name] = type(model[name])(draw(random, [1, 3, 1000, 2**16, 2**20]))
        edit_json(checkpoint / "config.json", model=model)
        reseal(checkpoint)
        with limited():
            try:
                read_folder(checkpoint)
            except CheckpointError:
                continue


def test_sizes_of_adapters_are_no_way_to_memory(adapter):
    random = np.random.default_rng(2)
    for _ in range(30):
        changed = {
            "rank": draw(random, [1, 2, 4096]),
            "alpha": draw(random, [1e-6, 4.0, 1e6]),
            "along_depth": draw(random, ["shared", "per-depth", "time-indexed"]),
            "depth_steps": draw(random, [None, 1, 2, 128]),
            "to_layers": draw(random, [True, False]),
            "targets": draw(random, [["*"], ["attention"], ["*.qkv", "mixer"], ["[", "?"]]),
        }
        edit_json(adapter / CONFIG, **changed)
        reseal(adapter)
        with limited():
            try:
                tipshare.load(adapter)
            except CheckpointError:
                continue


def with_base(adapter, name: object):
    edit_json(adapter / CONFIG, base={**json.loads((adapter / CONFIG).read_text())["base"], "name": name})
    reseal(adapter)
    return adapter


@pytest.mark.parametrize("value", NASTY_VALUES, ids=lambda value: repr(value)[:20])
def test_nasty_names_of_bases(adapter, value):
    with pytest.raises(CheckpointError):
        read_folder(with_base(adapter, value))


@pytest.mark.parametrize("name", [".", "../adapter"])
def test_an_adapter_that_names_itself_as_its_base_ends(adapter, name):
    with pytest.raises(CheckpointError, match="is an adapter itself"):
        read_folder(with_base(adapter, name))


def test_a_folder_of_both_kinds_is_an_adapter_or_nothing(adapter, tmp_path):
    both = shutil.copytree(tmp_path / "base", tmp_path / "both")
    shutil.copy(adapter / CONFIG, both / CONFIG)
    with pytest.raises(CheckpointError, match=r"must list adapter_config\.json"):
        read_folder(both)


@pytest.mark.parametrize(
    "content", [b"", b"[" * 200_000, b'{"a":' * 50_000, b"9" * 10_000, b"\xff\xfe", b'{"a":1,"a":2}']
)
def test_json_that_was_made_to_hurt(content):
    with pytest.raises(CheckpointError, match="thing is not valid JSON"):
        parse_json(content, "thing")
