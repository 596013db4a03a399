"""Adapter folders: they give the adapted model back, on their base alone, and say in words what is wrong."""

import dataclasses
import json
import shutil

import jax
import numpy as np
import pytest

import tipshare
from tests.checkpoint.configs import TINY, TOKENS, build_tiny, edit_json, equal_weights, reseal
from tests.checkpoint.records import record_fields
from tests.factories import fill, logits_of
from tests.hub.conftest import hub  # noqa: F401
from tipshare import CheckpointError, adapters
from tipshare.__main__ import main
from tipshare.adapters.description import prepare
from tipshare.checkpoint import open_checkpoint


def adapt(model: tipshare.LanguageModel, **settings) -> tipshare.LanguageModel:
    """The model with adapters that have random numbers in every array."""
    model = adapters.apply(model, key=jax.random.key(0), **{"rank": 2, **settings})
    noise = np.random.default_rng(1)
    filled = jax.tree.map(lambda leaf: jax.numpy.asarray(noise.normal(0, 0.3, leaf.shape), np.float32), model.adapters)
    return dataclasses.replace(model, adapters=filled)


@pytest.fixture
def base(tmp_path):
    return tipshare.save(build_tiny("time-indexed-mlp"), tmp_path / "base")


@pytest.fixture
def folder(base, tmp_path):
    """Adapters of `base`, trained by a run."""
    record = record_fields("time-indexed-mlp")
    return adapters.save(adapt(build_tiny("time-indexed-mlp")), tmp_path / "adapter", base, record)


@pytest.mark.parametrize(
    ("kind", "along_depth", "depth_steps", "layers"),
    [
        ("standard", "shared", None, False),
        ("neural-ode", "time-indexed", 3, False),
        ("time-indexed-mlp", "per-depth", None, False),
        ("time-indexed-ssm", "shared", 3, True),
    ],
)
def test_a_folder_gives_the_adapted_model_back(kind, along_depth, depth_steps, layers, tmp_path):
    base = tipshare.save(build_tiny(kind), tmp_path / "base", dtype="bfloat16")
    prepared = prepare(tipshare.load(base, dtype="float32"), depth_steps, layers=layers)
    model = adapt(prepared, along_depth=along_depth, targets=("attention", "*.into_state" if layers else "mixer"))
    adapters.save(model, tmp_path / "adapter", base)
    loaded = tipshare.load(tmp_path / "adapter")
    assert equal_weights(loaded, model)
    assert (logits_of(loaded, TOKENS) == logits_of(model, TOKENS)).all()
    assert not np.allclose(logits_of(loaded, TOKENS), logits_of(prepared, TOKENS), atol=1e-3)
    assert {path.name for path in (tmp_path / "adapter").iterdir()} == {
        *("README.md", "adapter_config.json", "adapter_model.safetensors", "checksums.json")
    }


def test_folders_are_found_beside_each_other_or_where_the_caller_says(base, folder, tmp_path):
    wanted = tipshare.load(folder)
    (tmp_path / "elsewhere").mkdir()
    for each in (base, folder):
        each.rename(tmp_path / "elsewhere" / each.name)
    moved, other = tmp_path / "elsewhere" / "adapter", tmp_path / "other"
    assert equal_weights(tipshare.load(moved), wanted)
    (tmp_path / "elsewhere" / "base").rename(other)
    with pytest.raises(CheckpointError, match=r"was the folder '\.\./base', which is not here; say where it is"):
        tipshare.load(moved)
    assert equal_weights(adapters.load(moved, base=other), wanted)
    assert equal_weights(adapters.load(moved, base=other, dtype="bfloat16", verify=False), wanted.astype("bfloat16"))


def test_another_base_is_refused(base, folder, tmp_path):
    same_shape = tipshare.save(build_tiny("time-indexed-mlp", seed=1), tmp_path / "same-shape")
    other_kind = tipshare.save(build_tiny("standard"), tmp_path / "other-kind")
    wider = tipshare.save(fill(TINY["time-indexed-mlp"].replace(hidden_dim=20)), tmp_path / "wider")
    with pytest.raises(CheckpointError, match=r"is not the base of this adapter: the digest of its weights is \w+"):
        adapters.load(folder, base=same_shape)
    for wrong in (other_kind, wider):
        with pytest.raises(CheckpointError, match=r"has shape|does not fit|is missing|is not part"):
            adapters.load(folder, base=wrong)
    with pytest.raises(CheckpointError, match="is an adapter itself: merge it first"):
        adapters.load(folder, base=folder)
    with pytest.raises(CheckpointError, match=r"has no adapter_config\.json"):
        adapters.load(base)


def test_adapters_are_saved_with_the_model_they_were_made_for(base, tmp_path):
    other = adapt(build_tiny("time-indexed-mlp", seed=1))
    with pytest.raises(ValueError, match="without its adapters this model is not"):
        adapters.save(other, tmp_path / "adapter", base)
    with pytest.raises(ValueError, match="has no adapters"):
        adapters.save(build_tiny("time-indexed-mlp"), tmp_path / "adapter", base)
    with pytest.raises(ValueError, match=r"holds config\.json, and no adapter_config\.json of tipshare-adapter"):
        adapters.save(adapt(build_tiny("time-indexed-mlp")), base, base)
    (tmp_path / "peft").mkdir()
    (tmp_path / "peft" / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    with pytest.raises(ValueError, match=r"holds adapter_config\.json, and no .* of tipshare-adapter"):
        adapters.save(adapt(build_tiny("time-indexed-mlp")), tmp_path / "peft", base)
    bad = jax.tree.map(lambda leaf: leaf * np.nan, adapt(build_tiny("time-indexed-mlp")).adapters)
    with pytest.raises(ValueError, match="holds NaN or infinity"):
        adapters.save(dataclasses.replace(build_tiny("time-indexed-mlp"), adapters=bad), tmp_path / "adapter", base)
    assert not (tmp_path / "adapter").exists()


def test_a_changed_byte_is_found(folder):
    for name in ("adapter_config.json", "adapter_model.safetensors", "record.json"):
        content = (folder / name).read_bytes()
        changed = content.replace(b"2", b"3") if name.endswith("json") else content[:-1] + b"\x01"
        (folder / name).write_bytes(changed)
        with pytest.raises(CheckpointError):
            tipshare.load(folder)
        (folder / name).write_bytes(content)
    tipshare.load(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": 0}, "rank=0 must be a whole number, at least 1"),
        ({"rank": 3}, "has shape"),
        ({"targets": ["mixer.leave"]}, "target 'mixer.leave' is not a dense layer"),
        ({"targets": ["attention.qkv"]}, "is not part of these adapters"),
        ({"depth_steps": 0}, "depth_steps=0 must be a whole number"),
        ({"format_version": 2}, "which this version of tipshare reads"),
        ({"more": 1}, r"missing nothing, unknown \['more'\]"),
        ({"base": {"name": "nowhere", "digest": "0" * 64}}, "neither a bundled name nor a Hub id"),
    ],
)
def test_what_no_adapter_can_be_is_said(folder, changes, message):
    edit_json(folder / "adapter_config.json", **changes)
    reseal(folder)
    with pytest.raises(CheckpointError, match=message):
        tipshare.load(folder)


def test_the_card_and_info_say_what_it_is(folder, capsys):
    card = (folder / "README.md").read_text()
    assert "# Adapter of ../base" in card
    assert "rank 2, alpha 4" in card
    assert "Training steps: 1,000" in card
    assert main(["info", str(folder), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["adapter"]["base"]["name"] == "../base"
    assert shown["adapter"]["targets"] == ["attention.output", "attention.qkv", "mixer.down", "mixer.up"]
    assert shown["parameters"]["adapters"] == 2 * (16 + 48 + 16 + 16 + 16 + 16 + 16 + 16)
    assert main(["info", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "\nbase        ../base, digest " in shown
    assert "targets attention.output attention.qkv mixer.down mixer.up" in shown


def test_a_bundled_base_goes_by_its_name(base, tmp_path, monkeypatch):
    bundle = tmp_path / "bundle"
    shutil.copytree(base, bundle / "time-indexed-mlp")
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(bundle))
    folder = adapters.save(adapt(build_tiny("time-indexed-mlp")), tmp_path / "far" / "away", "time-indexed-mlp")
    assert open_checkpoint(folder).adapter["base"]["name"] == "time-indexed-mlp"
    assert tipshare.load(folder).adapters is not None
    with pytest.raises(ValueError, match="is an adapter itself: merge it first"):
        adapters.save(tipshare.load(folder), tmp_path / "again", folder)


@pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
def test_adapters_and_their_base_come_from_the_hub(base, folder, hub, tmp_path):  # noqa: F811
    with pytest.raises(ValueError, match=r"push the base with tipshare\.push"):
        adapters.push(folder, "org/adapter")
    tipshare.push(base, "org/base")
    model = tipshare.load(folder)
    adapters.save(model, tmp_path / "shared", "org/base")
    assert adapters.push(tmp_path / "shared", "org/adapter").changed
    assert equal_weights(tipshare.load("org/adapter"), model)
    assert "base_model: org/base" in (tmp_path / "shared" / "README.md").read_text()
    # An adapter from the Hub has no say in which folders of this machine are read.
    edit_json(tmp_path / "shared" / "adapter_config.json", base={**_base(folder), "name": "../base"})
    reseal(tmp_path / "shared")
    tipshare.push(tmp_path / "shared", "org/adapter")
    with pytest.raises(CheckpointError, match="was the folder"):
        tipshare.load("org/adapter")


def _base(folder) -> dict:
    return json.loads((folder / "adapter_config.json").read_text())["base"]
