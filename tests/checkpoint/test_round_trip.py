"""What is saved comes back: weights, names, record, and nothing half written."""

import json
import os
from pathlib import Path

import jax
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import tipshare
from tests.checkpoint.configs import TINY, TOKENS, build_tiny, equal_weights
from tests.checkpoint.records import make_record, record_fields
from tests.factories import fill, logits_of
from tipshare.checkpoint import name_tensors, open_checkpoint


@pytest.mark.parametrize("largest_shard", [10**8, 4000], ids=["whole", "sharded"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", TINY)
def test_a_loaded_model_is_the_saved_one_to_the_last_bit(kind, dtype, largest_shard, tmp_path):
    model = build_tiny(kind)
    tipshare.save(model, tmp_path / "model", dtype=dtype, largest_shard=largest_shard)
    loaded = tipshare.load(tmp_path / "model")
    assert equal_weights(loaded, model.astype(dtype))
    assert not equal_weights(loaded, build_tiny(kind, seed=1).astype(dtype))  # the comparison bites
    assert (tmp_path / "model" / "model.safetensors.index.json").exists() == (largest_shard == 4000)


def test_a_loaded_model_has_the_same_logits(tmp_path):
    model = build_tiny("time-indexed-ssm")
    tipshare.save(model, tmp_path / "model")
    assert np.array_equal(logits_of(tipshare.load(tmp_path / "model"), TOKENS), logits_of(model, TOKENS))


def test_loading_can_cast(tmp_path):
    model = build_tiny("neural-ode")
    tipshare.save(model, tmp_path / "model")
    assert equal_weights(tipshare.load(tmp_path / "model", dtype="bfloat16"), model.astype("bfloat16"))
    with pytest.raises(ValueError, match=r"dtype='float16' is not one of float32, bfloat16"):
        tipshare.load(tmp_path / "model", dtype="float16")


def test_a_loaded_model_can_be_trained_on_with_donated_weights(tmp_path):
    """Weights lie in a read-only map of the file: an update in place must not reach it."""
    tipshare.save(build_tiny("standard"), tmp_path / "model")
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    update = jax.jit(lambda model: jax.tree.map(lambda leaf: leaf + 1, model), donate_argnums=0)
    jax.block_until_ready(jax.tree.leaves(update(tipshare.load(tmp_path / "model"))))
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before


def test_the_files_are_ordinary_safetensors(tmp_path):
    model = build_tiny("time-indexed-mlp")
    record = make_record("time-indexed-mlp", seed=3)
    tipshare.save(model, tmp_path / "model", record=record)
    path = tmp_path / "model" / "model.safetensors"
    read, saved = load_file(path), name_tensors(model)
    assert set(read) == set(saved)
    assert all(np.array_equal(read[name], saved[name]) for name in saved)
    with safe_open(path, "np") as file:
        expected = {"format": "tipshare", "format_version": "1", "kind": "time-indexed-mlp", "record": record.id}
        assert file.metadata() == expected


def test_shards_stay_below_the_limit_and_hold_every_tensor_once(tmp_path):
    tipshare.save(build_tiny("neural-ode"), tmp_path / "model", largest_shard=20_000)
    index = json.loads((tmp_path / "model" / "model.safetensors.index.json").read_text())
    shards = sorted(set(index["weight_map"].values()))
    tensors = [name for shard in shards for name in load_file(tmp_path / "model" / shard)]
    assert len(shards) > 2
    assert sorted(tensors) == sorted(index["weight_map"]) == sorted(name_tensors(build_tiny("neural-ode")))


def test_saving_again_replaces_the_weights_and_keeps_other_files(tmp_path):
    folder = tmp_path / "model"
    tipshare.save(build_tiny("neural-ode"), folder, largest_shard=20_000)
    (folder / "notes.txt").write_text("mine")
    tipshare.save(build_tiny("standard"), folder)
    assert equal_weights(tipshare.load(folder), build_tiny("standard"))
    assert (folder / "notes.txt").read_text() == "mine"
    assert not list(folder.glob("model-*"))
    assert os.listdir(tmp_path) == ["model"]


def test_a_failed_save_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    tipshare.save(build_tiny("standard"), folder)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tipshare.checkpoint.container.os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        tipshare.save(build_tiny("neural-ode"), folder)
    monkeypatch.undo()
    assert equal_weights(tipshare.load(folder), build_tiny("standard"))
    assert os.listdir(tmp_path) == ["model"]


def test_a_save_interrupted_while_files_move_is_refused_and_can_be_repeated(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    tipshare.save(build_tiny("standard"), folder)
    move, moved = Path.replace, []

    def move_two(source, target):
        moved.append(target)
        if len(moved) > 2:
            raise KeyboardInterrupt
        return move(source, target)

    monkeypatch.setattr(Path, "replace", move_two)
    with pytest.raises(KeyboardInterrupt):
        tipshare.save(build_tiny("neural-ode"), folder)
    monkeypatch.undo()
    with pytest.raises(tipshare.CheckpointError, match=r"checksums\.json is missing"):
        tipshare.load(folder)
    tipshare.save(build_tiny("neural-ode"), folder)
    assert equal_weights(tipshare.load(folder), build_tiny("neural-ode"))


def test_a_folder_in_use_for_other_things_stays_open(tmp_path):
    """Training saves into the folder of a run, where it is still writing."""
    (tmp_path / "run" / "state").mkdir(parents=True)
    with (tmp_path / "run" / "metrics.jsonl").open("w") as metrics:
        tipshare.save(build_tiny("standard"), tmp_path / "run")
        metrics.write("after")
    assert (tmp_path / "run" / "metrics.jsonl").read_text() == "after"
    assert equal_weights(tipshare.load(tmp_path / "run"), build_tiny("standard"))


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        tipshare.save(build_tiny("time-indexed-ssm"), tmp_path / name, record=make_record("time-indexed-ssm"))
    first, second = ({f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in ("first", "second"))
    assert first == second


def test_saving_refuses_what_would_not_come_back(tmp_path):
    model = build_tiny("time-indexed-mlp")
    tied = TINY["time-indexed-mlp"].replace(weights="tied")
    timed_norm = TINY["standard"].replace(timed_final_norm=True)
    for frozen in (model.freeze(), fill(tied).freeze(5), fill(timed_norm).freeze()):
        with pytest.raises(ValueError, match="frozen"):
            tipshare.save(frozen, tmp_path / "a")
    with pytest.raises(ValueError, match="NaN"):
        tipshare.save(jax.tree.map(lambda leaf: leaf * np.nan, model), tmp_path / "a")
    with pytest.raises(ValueError, match="float16; pass dtype"):
        tipshare.save(model.astype("float16"), tmp_path / "a")
    fields = record_fields("time-indexed-mlp")
    with pytest.raises(ValueError, match="finite"):
        tipshare.save(model, tmp_path / "a", record={**fields, "final": {"valid_loss": float("nan")}})
    with pytest.raises(ValueError, match=r"not a run record: missing \['command', "):
        tipshare.save(model, tmp_path / "a", record={"recipe": "tiny"})
    with pytest.raises(ValueError, match="the record is of a standard, and the model is a time-indexed-mlp"):
        tipshare.save(model, tmp_path / "a", record=make_record("standard"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "README.md").write_text("years of work")
    with pytest.raises(ValueError, match=r"holds README\.md, and no config\.json of tipshare"):
        tipshare.save(model, tmp_path / "other")
    (tmp_path / "other" / "README.md").rename(tmp_path / "other" / "adapter_model.safetensors")
    with pytest.raises(ValueError, match=r"holds adapter_model\.safetensors"):
        tipshare.save(model, tmp_path / "other")
    assert os.listdir(tmp_path) == ["other"]


def test_bundled_checkpoints_load_by_their_short_name(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    assert tipshare.list_bundled() == []
    tipshare.save(build_tiny("standard"), tmp_path / "standard")
    (tmp_path / "rubbish").mkdir()
    assert tipshare.list_bundled() == ["standard"]
    assert open_checkpoint("standard").origin == "bundle"
    assert open_checkpoint(tmp_path / "standard").origin == "path"
    with pytest.raises(tipshare.CheckpointError, match=r"'time-indexed-ssm' is neither .*\(standard\)"):
        tipshare.load("time-indexed-ssm")
    with pytest.raises(tipshare.CheckpointError, match="there is no folder"):
        tipshare.load(tmp_path / "absent")
    with pytest.raises(tipshare.CheckpointError, match="is neither a folder nor"):
        tipshare.load("a" * 300)  # longer than a file name may be
