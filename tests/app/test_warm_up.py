"""The warm-up: it goes through everything a visitor may ask for first, and gets past a damaged model."""

import shutil

from app.shelf import ModelShelf
from app.warm_up import warm_up


def test_it_says_how_long_it_took(shelf):
    said: list[str] = []
    warm_up(shelf, said.append)
    assert said[0].startswith("warm after")
    assert said[1].startswith("first byte of 4 models after")


def test_a_damaged_model_is_named_and_the_others_are_warmed(checkpoints, tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    shutil.copytree(checkpoints, folder)
    for name in ("standard", "neural-ode"):
        shutil.rmtree(folder / name)
    weights = folder / "time-indexed-ssm" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(folder))
    said: list[str] = []
    warm_up(ModelShelf(), said.append)
    assert said[0].startswith("time-indexed-ssm cannot be loaded:")
    assert said[2].startswith("first byte of 1 models after")


def test_an_empty_shelf_needs_none(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    said: list[str] = []
    warm_up(ModelShelf(), said.append)
    assert said == []
