"""A damaged, foreign or hostile folder is refused by name and reason, with one class of error."""

import functools
import json
import os
import pickle
import re
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

import tipshare
from tests.checkpoint.configs import build_tiny, edit_json, equal_weights, reseal, rewrite_weights
from tests.checkpoint.records import record_fields
from tipshare import CheckpointError
from tipshare.checkpoint import read_folder
from tipshare.checkpoint.container import read_header

HEAD = "head.weight"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    model = build_tiny("time-indexed-mlp")
    tipshare.save(model, folder / "whole", record=record_fields("time-indexed-mlp"))
    tipshare.save(model, folder / "sharded", largest_shard=4000)
    return folder


@pytest.fixture
def whole(saved, tmp_path):
    return shutil.copytree(saved / "whole", tmp_path / "whole")


@pytest.fixture
def sharded(saved, tmp_path):
    return shutil.copytree(saved / "sharded", tmp_path / "sharded")


def refuse(folder, match):
    with pytest.raises(CheckpointError, match=match):
        tipshare.load(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "record.json", "checksums.json"])
def test_a_truncated_file(whole, name):
    content = (whole / name).read_bytes()
    (whole / name).write_bytes(content[:-7])
    refuse(whole, rf"{name}")


def test_every_flipped_bit_of_a_sample_is_found(whole):
    path, random = whole / "model.safetensors", np.random.default_rng(0)
    content = path.read_bytes()
    for position in [0, 8, len(content) - 1, *random.integers(len(content), size=60)]:
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        refuse(whole, r"model\.safetensors")
    path.write_bytes(content)
    tipshare.load(whole)


@pytest.mark.parametrize("name", ["config.json", "record.json"])
def test_every_flipped_bit_of_a_sample_is_found_in_json(whole, name):
    content, random = (whole / name).read_bytes(), np.random.default_rng(1)
    for position in [0, len(content) - 1, *random.integers(len(content), size=60)]:
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(random.integers(8))
        (whole / name).write_bytes(damaged)
        refuse(whole, name)


def test_a_flipped_bit_is_found_in_the_index_and_in_every_shard(sharded):
    for path in [sharded / "model.safetensors.index.json", *sharded.glob("model-*")]:
        content = path.read_bytes()
        path.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
        refuse(sharded, path.name)
        path.write_bytes(content)
    tipshare.load(sharded)


def test_changed_checksums_are_refused_or_change_nothing(whole, saved):
    """Nothing vouches for checksums.json itself: white space in it may change, and what it says may not."""
    path, random = whole / "checksums.json", np.random.default_rng(2)
    content, model = path.read_bytes(), tipshare.load(whole)
    for position in random.integers(len(content), size=100):
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        try:
            assert equal_weights(tipshare.load(whole), model)
        except CheckpointError:
            continue
        assert json.loads(damaged) == json.loads(content)


def test_words_in_another_order_are_found(whole):
    """Sums and exclusive ors of words would not see this."""
    path, random = whole / "model.safetensors", np.random.default_rng(3)
    content = path.read_bytes()
    start = read_header(path).data_start
    words = np.frombuffer(content[start:], np.uint64)
    for _ in range(30):
        first, second = random.choice(len(words), 2, replace=False)
        moved = words.copy()
        moved[[first, second]] = moved[[second, first]]
        assert moved.sum() == words.sum()
        assert moved.tobytes() != words.tobytes()
        path.write_bytes(content[:start] + moved.tobytes())
        refuse(whole, "damaged or was changed")


def test_the_caller_can_do_without_verification(whole):
    path = whole / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    refuse(whole, "damaged")
    changed = tipshare.load(whole, verify=False)
    assert not equal_weights(changed, build_tiny("time-indexed-mlp"))
    rewrite_weights(whole, lambda tensors: tensors.update({HEAD: np.full_like(tensors[HEAD], np.nan)}))
    tipshare.load(whole, verify=False)
    edit_json(whole / "config.json", dtype="bfloat16")
    with pytest.raises(CheckpointError, match=r"config\.json"):
        tipshare.load(whole, verify=False)


def test_checksums_of_the_first_version_are_read(whole):
    fields = json.loads((whole / "checksums.json").read_text())
    assert fields["format_version"] == 2
    old = {name: {**entry, "fingerprint": "0" * 64} for name, entry in fields["files"].items()}
    (whole / "checksums.json").write_text(json.dumps({"format_version": 1, "files": old}))
    assert equal_weights(tipshare.load(whole), build_tiny("time-indexed-mlp"))
    (whole / "checksums.json").write_text(json.dumps({"format_version": 2, "files": old}))
    refuse(whole, "needs exactly sha256, size")
    (whole / "checksums.json").write_text(json.dumps({"format_version": 3, "files": old}))
    refuse(whole, "format_version of 1 or 2")


FILES = ["config.json", "checksums.json", "record.json", "model.safetensors"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link to a device", "link out", "link to itself"])
def test_only_regular_files_are_opened(whole, tmp_path, name, kind):
    path = whole / name
    path.rename(tmp_path / "elsewhere")
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            if os.geteuid():
                pytest.skip("only root makes devices")
            try:
                os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
            except PermissionError:
                pytest.skip("devices cannot be made here")
        case "link to a device":
            path.symlink_to("/dev/zero")
        case "link out":
            path.symlink_to(tmp_path / "elsewhere")
        case _:
            path.symlink_to(path.name)
    refuse(whole, rf"{name} (is not a regular file|is a link out of its folder|cannot be read)")


def test_a_link_inside_the_folder_is_followed(whole):
    (whole / "model.safetensors").rename(whole / "weights")
    (whole / "model.safetensors").symlink_to("weights")
    assert equal_weights(tipshare.load(whole), build_tiny("time-indexed-mlp"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_may_not_be_read(whole, name, monkeypatch):
    real = Path.open

    def refuse_one(path, *arguments, **options):
        if path.name == name:
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse_one)
    refuse(whole, f"{name} cannot be read: Permission denied")


@pytest.mark.parametrize("padding", range(4))
def test_weights_at_any_offset_are_read(whole, padding):
    """Other programs write safetensors files whose tensors begin at any byte."""
    path = whole / "model.safetensors"
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    head = content[8 : 8 + length].rstrip() + b" " * padding
    path.write_bytes(len(head).to_bytes(8, "little") + head + content[8 + length :])
    reseal(whole)
    assert equal_weights(tipshare.load(whole), build_tiny("time-indexed-mlp"))


def test_a_wrong_shape(whole):
    rewrite_weights(whole, lambda tensors: tensors.update({HEAD: tensors[HEAD].T.copy()}))
    refuse(whole, r"model\.safetensors: 'head\.weight' has shape \[256, 16\], but config\.json makes it \[16, 256\]")


def test_a_wrong_dtype(whole):
    edit_json(whole / "config.json", dtype="bfloat16")
    reseal(whole)
    refuse(whole, r"is float32, but config\.json says bfloat16")


def test_a_dtype_that_is_not_a_weight(whole):
    path = whole / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"I32"'))
    reseal(whole)
    refuse(whole, "has dtype 'I32'; weights are F32 or BF16")


def test_a_missing_tensor(whole):
    rewrite_weights(whole, lambda tensors: tensors.pop("final_norm.bias"))
    refuse(whole, r"'final_norm\.bias' is missing")


def test_an_extra_tensor(whole):
    rewrite_weights(whole, lambda tensors: tensors.update(spy=np.zeros(3, np.float32)))
    refuse(whole, "'spy' is not part of a time-indexed-mlp")


def test_not_a_number(whole):
    rewrite_weights(whole, lambda tensors: tensors.update({HEAD: np.full_like(tensors[HEAD], np.nan)}))
    refuse(whole, r"model\.safetensors holds NaN")


@pytest.mark.parametrize(("key", "value"), [("format_version", "2"), ("kind", "standard"), ("format", "pt")])
def test_wrong_metadata(whole, key, value):
    rewrite_weights(whole, lambda tensors: None, **{key: value})
    refuse(whole, f"{key} is '{value}'")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"format_version": 2}, "format_version 2 is not 1"),
        ({"format_version": True}, "format_version True"),
        ({"model_type": "llama"}, "model_type is 'llama'"),
        ({"dtype": "../../etc/passwd"}, "dtype '../../etc/passwd' is not one of"),
        ({"architectures": ["../evil"]}, "architectures must be"),
        ({"weights": "/etc/passwd"}, r"unknown \['weights'\]"),
        ({"model": "/etc/passwd"}, "a JSON object of fields"),
    ],
)
def test_a_wrong_config(whole, changes, match):
    edit_json(whole / "config.json", **changes)
    reseal(whole)
    refuse(whole, match)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"kind": "transformer"}, "unknown model kind 'transformer'"),
        ({"kind": "../standard"}, "unknown model kind"),
        ({"weights": "/tmp/weights.bin"}, "is not one of"),
        ({"hidden_dim": 2**20}, "need at least"),
        ({"hidden_dim": 10**30}, "must be a whole number"),
        ({"vocab_size": 2**20}, "need at least"),
        ({"time_dim": 2**20}, "has shape"),
        ({"time_frequencies": 2**20}, "has shape"),
        ({"mlp_ratio": 1e300}, "config.json"),
        ({"mlp_ratio": 1e9}, "has shape"),
        ({"num_layers": 2**20}, "more than the 1024"),
        ({"num_layers": 1000, "weights": "own"}, "is missing"),
        ({"max_position_embeddings": 2**20}, "more than the 65536"),
        ({"max_position_embeddings": 2**16, "positions": "learned"}, "'positions' is missing"),
        ({"surprise": 1}, "unknown field 'surprise'"),
        ({"gate_start": 10**400}, r"config\.json"),
        ({"mlp_ratio": 10**400}, r"config\.json"),
        ({"weights": "\ud800"}, "is not one of"),
        ({"num_layers": functools.reduce(lambda inner, _: [inner], range(300), 1)}, "num_layers="),
    ],
)
def test_a_wrong_model(whole, changes, match):
    fields = json.loads((whole / "config.json").read_text())["model"]
    edit_json(whole / "config.json", model={**fields, **changes})
    reseal(whole)
    refuse(whole, match)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_in_the_config(whole, value):
    text = (whole / "config.json").read_text()
    changed, count = re.subn(r'"gate_start": [\d.]+', f'"gate_start": {value}', text)
    assert count == 1
    (whole / "config.json").write_text(changed)
    reseal(whole)
    refuse(whole, r"config\.json.*(is not a number|must be a finite number)")


@pytest.mark.parametrize("place", ["../outside.safetensors", "/etc/passwd", "model.pt", "model-00001-of-00002.bin", 3])
def test_an_index_that_points_elsewhere(sharded, place):
    index = json.loads((sharded / "model.safetensors.index.json").read_text())
    index["weight_map"][HEAD] = place
    (sharded / "model.safetensors.index.json").write_text(json.dumps(index))
    reseal(sharded)
    refuse(sharded, "which is not a weights file of this folder")


def test_an_index_that_does_not_know_a_tensor(sharded):
    index = json.loads((sharded / "model.safetensors.index.json").read_text())
    del index["weight_map"]["final_norm.bias"]
    (sharded / "model.safetensors.index.json").write_text(json.dumps(index))
    reseal(sharded)
    refuse(sharded, "disagree about 'final_norm.bias'")


@pytest.mark.parametrize("name", ["../config.json", "/etc/passwd", "model.pkl"])
def test_checksums_of_other_files(whole, name):
    fields = json.loads((whole / "checksums.json").read_text())
    fields["files"][name] = fields["files"]["config.json"]
    (whole / "checksums.json").write_text(json.dumps(fields))
    refuse(whole, "is not a file of a checkpoint")


@pytest.mark.parametrize("name", ["config.json", "checksums.json", "model.safetensors"])
def test_a_missing_file(whole, name):
    (whole / name).unlink()
    refuse(whole, f"{name} is missing")


def test_a_missing_shard(sharded):
    shard = sorted(sharded.glob("model-*"))[1]
    shard.unlink()
    refuse(sharded, f"{shard.name} is missing")


def test_pickles_are_never_opened(whole):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was opened",)

    for name in ("pytorch_model.bin", "model.pkl", "training_args.bin"):
        (whole / name).write_bytes(pickle.dumps(Trap()))
    tipshare.load(whole)
    shutil.copy(whole / "model.pkl", whole / "model.safetensors")
    reseal(whole)
    refuse(whole, r"model\.safetensors")


def test_a_huge_config_is_refused_in_no_time_and_memory(whole):
    """The shapes it asks for would take terabytes."""
    fields = json.loads((whole / "config.json").read_text())["model"]
    edit_json(whole / "config.json", model={**fields, "time_dim": 2**20, "mlp_ratio": 60_000.0})
    reseal(whole)
    with pytest.raises(CheckpointError, match="has shape"):
        read_folder(whole)
