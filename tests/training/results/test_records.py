"""Records: what is written is what is read, and nothing half or wrong gets in."""

import json
import os
from dataclasses import replace

import pytest

from tests.training.results.factory import make_record
from training.results.records import RunRecord, append_record, read_records, write_records


def test_a_record_comes_back_equal_from_one_line_of_json():
    record = make_record("time-indexed-ssm", seed=7, loss=1.5)
    line = record.to_json()
    assert "\n" not in line
    assert RunRecord.from_json(line) == record
    assert RunRecord.from_json(line).id == record.id


@pytest.mark.parametrize("name", ["final", "speed", "memory", "flops"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "2.0", None])
def test_numbers_that_are_not_finite_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name}\.broken=.* is not finite"):
        make_record(**{name: {"broken": value}})


def test_nan_in_a_curve_is_not_written():
    with pytest.raises(ValueError, match="Out of range float"):
        make_record(curve=[[1, float("nan")]]).to_json()


def test_another_format_is_refused():
    fields = json.loads(make_record().to_json())
    with pytest.raises(ValueError, match="record format 2 is not 1"):
        RunRecord.from_json(json.dumps({**fields, "format": 2}))


def test_missing_and_unknown_fields_are_named():
    fields = json.loads(make_record().to_json())
    del fields["commit"]
    with pytest.raises(ValueError, match=r"missing \['commit'\], unknown \['colour'\]"):
        RunRecord.from_json(json.dumps({**fields, "colour": "blue"}))


@pytest.mark.parametrize("line", ["{", "[1]", '"a"'])
def test_lines_that_are_no_record_are_refused(line):
    with pytest.raises(ValueError, match="a record must be"):
        RunRecord.from_json(line)


def test_a_config_that_no_model_has_is_refused():
    record = make_record()
    with pytest.raises(ValueError, match="unknown model kind"):
        replace(record, config={**record.config, "kind": "recurrent"})


def test_the_id_depends_on_what_was_run_and_not_on_what_came_out():
    record = make_record(loss=2.0)
    assert make_record(loss=1.0, commit="fedcba9", machine={"device": "gpu"}).id == record.id
    others = [
        make_record(seed=43),
        make_record("neural-ode"),
        make_record(recipe="quick"),
        make_record(config={"num_layers": 3}),
        make_record(settings={"corpus": "shakespeare"}),
        make_record(data={"train": {"sha256": "1" * 64}}),
    ]
    assert len({record.id, *(each.id for each in others)}) == 1 + len(others)


def test_appending_a_repeated_run_replaces_it(tmp_path):
    path = tmp_path / "deep" / "runs.jsonl"
    append_record(make_record(seed=1, loss=2.0), path)
    append_record(make_record(seed=2, loss=2.1), path)
    append_record(make_record(seed=1, loss=1.9), path)
    assert sorted((each.seed, each.final["valid_loss"]) for each in read_records(path)) == [(1, 1.9), (2, 2.1)]
    assert len(path.read_text().splitlines()) == 2


def test_a_folder_is_read_as_the_union_of_its_files(tmp_path):
    write_records([make_record(seed=1)], tmp_path / "a.jsonl")
    write_records([make_record(seed=2), make_record(seed=1, loss=1.5)], tmp_path / "inner" / "b.jsonl")
    (tmp_path / "notes.txt").write_text("not a record")
    assert {each.seed: each.final["valid_loss"] for each in read_records(tmp_path)} == {1: 1.5, 2: 2.0}


def test_a_broken_line_is_reported_with_file_and_number(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(make_record().to_json() + "\n\n{broken\n")
    with pytest.raises(ValueError, match=r"runs\.jsonl, line 3: a record must be one line of JSON"):
        read_records(path)


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "runs.jsonl"
    write_records([make_record(seed=1)], path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Out of range float"):
        write_records([make_record(seed=2), make_record(seed=3, curve=[[1, float("inf")]])], path)
    assert path.read_bytes() == before


def test_readers_see_the_old_or_the_new_file_and_never_a_part(tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    write_records([make_record(seed=1)], path)
    seen = []
    real_fsync = os.fsync

    def look_and_sync(descriptor):
        seen.append([each.seed for each in read_records(path)])
        real_fsync(descriptor)

    monkeypatch.setattr("training.results.records.os.fsync", look_and_sync)
    write_records([make_record(seed=seed) for seed in range(2, 50)], path)
    assert seen == [[1]]
    assert len(read_records(path)) == 48
    assert [each.name for each in tmp_path.iterdir()] == ["runs.jsonl"]
