"""Record files: one record per line, never half written, and told from other JSON lines."""

import json
import shlex
from pathlib import Path

import pytest
import tyro

from tests.training.results.factory import make_record
from training.commands.train import Train
from training.recipes.library import find_recipe
from training.results.records import append_record, read_records, write_records


def test_appending_a_repeated_run_replaces_it(tmp_path):
    path = tmp_path / "deep" / "runs.jsonl"
    append_record(make_record(seed=1, loss=2.0), path)
    append_record(make_record(seed=2, loss=2.1), path)
    append_record(make_record(seed=1, loss=1.9), path)
    assert sorted((each.seed, each.final["valid_loss"]) for each in read_records(path)) == [(1, 1.9), (2, 2.1)]
    assert len(path.read_text().splitlines()) == 2


def test_a_folder_is_read_as_the_union_of_its_record_files(tmp_path):
    write_records([make_record(seed=1)], tmp_path / "a" / "runs.jsonl")
    write_records([make_record(seed=2), make_record(seed=1, loss=1.5)], tmp_path / "b" / "runs.jsonl")
    write_records([make_record(seed=3)], tmp_path / "saved.jsonl")
    (tmp_path / "b" / "metrics.jsonl").write_text('{"step": 1, "train_loss": 5.0}\n')
    assert {each.seed: each.final["valid_loss"] for each in read_records(tmp_path)} == {1: 1.5, 2: 2.0}
    assert [each.seed for each in read_records(tmp_path / "saved.jsonl")] == [3]  # by name, any file


def test_a_file_without_records_that_is_given_by_name_is_refused(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "train_loss": 5.0}\n')
    with pytest.raises(ValueError, match=r"metrics\.jsonl, line 1: not a run record: missing"):
        read_records(tmp_path / "metrics.jsonl")


def test_a_broken_line_is_reported_with_file_and_number(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(make_record().to_json() + "\n\n{broken\n" + make_record(seed=1).to_json() + "\n")
    with pytest.raises(ValueError, match=r"runs\.jsonl, line 3: the record is not valid JSON"):
        read_records(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"runs\.jsonl is not UTF-8 text"):
        read_records(path)


def test_a_torn_last_line_is_reported_with_the_way_out(tmp_path):
    path, line = tmp_path / "runs.jsonl", make_record(seed=2).to_json()
    for length in (1, len(line) // 2, len(line) - 1):
        path.write_text(make_record(seed=1).to_json() + "\n" + line[:length])
        with pytest.raises(ValueError, match=r"line 2: the file ends in the middle of a record.*Delete this last line"):
            read_records(path)
    path.write_text(make_record(seed=1).to_json() + "\n" + line)  # only the line's end is missing
    assert len(read_records(path)) == 2


def test_characters_that_look_like_line_ends_do_not_break_a_record(tmp_path):
    record = make_record(command="python \u2028 \x85 \x0b train")
    line = json.dumps(record.to_fields(), ensure_ascii=False)
    (tmp_path / "runs.jsonl").write_text(line + "\n", encoding="utf-8")
    assert read_records(tmp_path / "runs.jsonl") == [record]


def test_records_of_many_runs_are_written_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    write_records([make_record(seed=1)], path)
    seen = []
    monkeypatch.setattr("tipshare.files.sync", lambda _: seen.append([each.seed for each in read_records(path)]))
    write_records([make_record(seed=seed) for seed in range(2, 50)], path)
    assert seen[0] == [1]
    assert len(read_records(path)) == 48
    assert [each.name for each in tmp_path.iterdir()] == ["runs.jsonl"]


def test_the_command_of_a_record_describes_the_run_that_it_is_of():
    """For the records whose recipe still is what it was."""
    checked = set()
    for record in read_records(Path(__file__).parents[3] / "checkpoints" / "runs.jsonl"):
        name, *changes = record.recipe.split("+")
        if name.startswith("finetune-"):
            assert record.command.startswith("python -m training finetune ")
        elif find_recipe(name).change(changes).for_model(record.model).settings() == record.settings:
            words = shlex.split(record.command)
            assert words[:4] == ["python", "-m", "training", "train"]
            given = tyro.cli(Train, args=words[4:])
            recipe = given.run_options.recipe(given.recipe)
            label, config = recipe.configure(given.model, given.run_options.preset)
            assert (recipe.name, label, given.seed) == (record.recipe, record.model, record.seed)
            assert recipe.for_model(given.model).settings() == record.settings
            assert config.to_dict() == record.config
            checked.add(name)
    assert {"published-1000", "published-3000", "ablation-weights", "ablation-time"} <= checked
