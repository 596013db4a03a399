"""The warm-up: it goes through everything a visitor may ask for first, and gets past a damaged model."""

import shutil

import pytest

from app.generate.examples import FIRST, show_examples, write_examples
from app.generate.measured import Measured
from app.generate.settings import WritingRequest
from app.generate.streaming import write_in_turns
from app.shelf import ModelShelf
from app.warm_up import WARM_DEPTHS, depths_to_warm, warm_up, warm_up_depths
from tests.app.generate.test_tinted import shown_text


@pytest.fixture(autouse=True)
def no_other_depth(monkeypatch):
    monkeypatch.setenv(WARM_DEPTHS, "0")


def test_it_says_how_long_it_took(shelf):
    measured, said = Measured(), []
    warm_up(shelf, said.append, measured)
    assert measured.has_all_examples
    assert said[0].startswith("warm after")
    assert said[1].startswith("first byte of 4 models after")


def test_afterwards_no_depth_of_the_dial_waits_for_compiling_and_all_speeds_are_known(shelf, monkeypatch):
    monkeypatch.setenv(WARM_DEPTHS, "3")
    measured, said, names = Measured(), [], tuple(shelf.names())
    write_examples(shelf, measured, names)
    warm_up_depths(shelf, measured, names, said.append)
    assert said[0].startswith("all 1 depths after")
    for steps in (2, 3):
        assert all(measured.speed(name, steps) for name in names if name != "standard")
        states = {
            column.state
            for columns in write_in_turns(
                shelf, measured, WritingRequest(prompt="In 1912 , ", models=names, steps=steps)
            )
            for column in columns
        }
        assert "compiling" not in states
    columns = next(
        columns
        for columns in write_in_turns(shelf, measured, WritingRequest(models=("time-indexed-mlp",), steps=4))
        if columns[0].state == "compiling"
    )
    assert columns  # a depth that was left out does wait


def test_every_model_has_an_example_afterwards_which_is_what_generate_writes(shelf):
    measured = Measured()
    assert show_examples(measured)["texts"] == []
    names = tuple(shelf.names())
    write_examples(shelf, measured, names)
    texts = {text["name"]: shown_text(text["text"]) for text in show_examples(measured)["texts"]}
    *_, columns = write_in_turns(shelf, measured, WritingRequest(prompt=FIRST, models=names))
    assert texts == {column.name: FIRST + shown_text(column.shown) for column in columns}


def test_the_operator_says_which_depths_are_compiled():
    assert depths_to_warm({}) == list(range(2, 19))
    assert depths_to_warm({WARM_DEPTHS: "0"}) == []
    assert depths_to_warm({WARM_DEPTHS: "3,12,99"}) == [3, 12]
    with pytest.raises(ValueError, match="TIPSHARE_WARM_DEPTHS='deep' must be numbers"):
        depths_to_warm({WARM_DEPTHS: "deep"})


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
