"""One strict check of records: what is written is what is read, and nothing half or wrong gets in."""

import dataclasses
import json
import math
import shutil

import pytest

import tipshare
from tests.checkpoint.configs import build_tiny, equal_weights, reseal
from tests.checkpoint.records import make_record, record_fields
from tipshare.__main__ import main
from tipshare.checkpoint import RunRecord, open_checkpoint
from tipshare.checkpoint.record import CHECKS, IDENTITY, LARGEST_RECORD


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def test_a_record_comes_back_equal_from_one_line_of_json():
    record = make_record("time-indexed-ssm", seed=7)
    line = record.to_json()
    assert "\n" not in line
    assert RunRecord.from_json(line) == RunRecord.from_json(line.encode()) == record
    assert RunRecord.from_json(line).id == record.id


def test_every_field_is_checked():
    assert set(CHECKS) | {"format"} == {field.name for field in dataclasses.fields(RunRecord)}


def test_the_id_depends_on_what_was_run_and_not_on_what_came_out():
    record = make_record("standard")
    changed = {
        "recipe": "other",
        "config": {**record.config, "num_layers": 3},
        "settings": {"corpus": "shakespeare"},
        "data": {},
        "seed": 43,
    }
    assert set(changed) == set(IDENTITY)
    others = [dataclasses.replace(record, **{name: value}) for name, value in changed.items()]
    assert len({record.id, *(each.id for each in others)}) == 1 + len(others)
    assert dataclasses.replace(record, final={"valid_loss": 1.0}, commit="1", machine={"device": "gpu"}).id == record.id


@pytest.mark.parametrize("drawn", [5, "3", [0], [2.0], [True], None])
def test_depth_steps_that_were_drawn_are_a_list_of_numbers(drawn):
    with pytest.raises(ValueError, match=r"settings\.depth_steps=.* must be a list of numbers of depth steps"):
        dataclasses.replace(make_record("standard"), settings={"depth_steps": drawn})


NOT_NUMBERS = [math.nan, math.inf, -math.inf, True, "2.0", None, 10**400, -(10**400), 1e300, [], {}]


@pytest.mark.parametrize("name", ["final", "speed", "memory", "flops"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: repr(value)[:12])
def test_numbers_that_are_not_finite_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name}\.broken=.* is not a finite number"):
        dataclasses.replace(make_record("standard"), **{name: {"broken": value}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "record format 2 is not 1"),
        ({"format": True}, "record format True is not 1"),
        ({"recipe": ""}, "recipe='' must be a printable text of 1 to 1,000 letters"),
        ({"recipe": "x" * 1001}, "recipe="),
        ({"model": "x" * 201}, "model='x+.* must be a printable text of 1 to 200 letters"),
        ({"model": "x" * 10**7}, "model="),
        ({"model": "half \ud800"}, r"model='half \\ud800' must be a printable text"),
        ({"model": "two\nlines"}, "printable"),
        ({"model": "right to \u202e left"}, "printable"),
        ({"model": ["standard"]}, "model="),
        ({"kind": "neural-ode"}, "kind='neural-ode' is not the kind of its config, 'standard'"),
        ({"kind": "magic"}, "kind='magic' is not the kind"),
        ({"config": {"kind": "magic"}}, "unknown model kind"),
        ({"config": {"kind": "standard", "hidden_dim": -1}}, "hidden_dim"),
        ({"config": {"kind": "standard", "hidden_dim": 10**400}}, "not a finite number"),
        ({"config": {"kind": "standard", "hidden_dim": {}}}, "hidden_dim"),
        ({"config": []}, "config=.* must be a JSON object"),
        ({"seed": "1"}, "seed='1' must be a whole number"),
        ({"seed": True}, "seed=True must be a whole number"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 10**400}, "seed="),
        ({"num_steps": 1.5}, "num_steps"),
        ({"final": []}, "final must be a JSON object"),
        ({"final": {str(number): 1.0 for number in range(1001)}}, "final must be .* at most 1,000 entries"),
        ({"final": {"\ud800": 1.0}}, "a name in final="),
        ({"parameters": {"total": 1.5}}, r"parameters\.total=1\.5 must be a whole number"),
        ({"machine": {"device": 3}}, r"machine\.device=3 must be a text"),
        ({"machine": {"device": "\ud800"}}, "not valid Unicode"),
        ({"command": "x" * 10_001}, "command="),
        ({"curve": [[1, 2, 3]]}, r"curve must be a list of \[step, loss\] pairs, but holds \[1, 2, 3\]"),
        ({"curve": {}}, "curve must be a list"),
        ({"curve": [[1, None]]}, "curve=None is not a finite number"),
        ({"train_curve": [[0, math.nan]]}, "train_curve=nan"),
        ({"train_curve": [[0, 1.0]] * 100_001}, "at most 100,000"),
        ({"settings": {"corpus": 3}}, r"settings\.corpus=3 must be a printable text"),
        ({"settings": {"deep": nested(20)}}, "settings is nested more than 8 levels deep"),
        ({"settings": {"long": [0] * 20_000}}, "settings holds more than 10,000 values"),
        ({"settings": {"text": "\udfff"}}, "not valid Unicode"),
        ({"data": {"valid": {"bytes": 10**400}}}, "data="),
        ({"data": [1]}, "data="),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "replace").decode() if isinstance(value, dict) else "",
)
def test_what_is_not_a_record_is_refused_in_words(changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        RunRecord.from_fields({**record_fields("standard"), **changes})
    assert len(str(caught.value).encode()) < 500  # and it can be printed


def test_missing_and_unknown_fields_are_named():
    fields = record_fields("standard")
    del fields["commit"]
    with pytest.raises(ValueError, match=r"missing \['commit'\], unknown \['colour'\]"):
        RunRecord.from_fields({**fields, "colour": "blue"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the record is not valid JSON"),
        ("[1]", "the record must be a JSON object, not list"),
        ('"a"', "not str"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a": 1, "a": 2}', "a key appears twice"),
        (b"\xff", "not valid JSON"),
        (b"9" * 10_000, "not valid JSON"),
        (" " * (LARGEST_RECORD + 1), "more than the 8,388,608 that are read"),
        (json.dumps(record_fields("standard")).replace("1.5", "NaN", 1), "NaN is not a number"),
        (json.dumps(record_fields("standard")).replace("1.5", "1e999", 1), "not a finite number"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_text_that_is_no_record_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        RunRecord.from_json(text)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    record = make_record("standard")
    return tipshare.save(build_tiny("standard"), tmp_path_factory.mktemp("record") / "model", record)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not valid JSON"),
        (b"{}", "not a run record: missing"),
        (json.dumps({**record_fields("standard"), "final": []}).encode(), "final must be a JSON object"),
        (json.dumps({**record_fields("standard"), "model": "\ud800"}).encode(), "printable"),
        (json.dumps(record_fields("neural-ode")).encode(), "it is of a neural-ode, and the model is a standard"),
    ],
    ids=["torn", "empty", "final", "surrogate", "another kind"],
)
def test_a_record_that_is_not_valid_is_no_record_and_the_model_still_loads(saved, tmp_path, capsys, content, reason):
    folder = shutil.copytree(saved, tmp_path / "model")
    (folder / "record.json").write_bytes(content)
    reseal(folder)
    checkpoint = open_checkpoint(folder)
    assert checkpoint.record is None
    assert reason in checkpoint.record_problem
    assert equal_weights(checkpoint.load(), build_tiny("standard"))
    assert main(["info", str(folder)]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("record "))
    assert reason in line
    assert main(["info", str(folder), "--json"]) == 0
    assert reason in json.loads(capsys.readouterr().out)["record_problem"]


def test_a_record_comes_back_from_its_checkpoint(saved):
    checkpoint = open_checkpoint(saved)
    assert checkpoint.record == make_record("standard")
    assert checkpoint.record_problem is None
