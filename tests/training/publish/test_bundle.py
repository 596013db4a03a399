"""Checkpoints that are kept in the project's repository, and the records beside them."""

import dataclasses

import pytest

import tipshare
from app.shelf import ModelShelf
from tests.checkpoint.configs import TINY, build_tiny, equal_weights
from tests.checkpoint.records import make_record, record_fields
from tests.hub.conftest import hub  # noqa: F401
from training.__main__ import main
from training.publish import bundle
from training.results.records import read_records, write_records

# The Hub client's own way of sending large files.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def runs(tmp_path):
    """A folder with a finished run per kind, as training leaves it."""
    for kind in TINY:
        tipshare.save(build_tiny(kind), tmp_path / "runs" / kind, record=record_fields(kind))
        (tmp_path / "runs" / kind / "metrics.jsonl").write_text('{"step": 1, "train_loss": 5.0}\n')
    write_records(map(make_record, TINY), tmp_path / "runs" / "runs.jsonl")
    return tmp_path / "runs"


def run_bundle(*arguments) -> int:
    return main(["bundle", *map(str, arguments)])


def test_small_runs_are_bundled_as_they_are_without_what_training_keeps(runs, tmp_path, capsys):
    folder = tmp_path / "bundle"
    assert run_bundle(*(runs / kind for kind in TINY), "--folder", folder) == 0
    for kind in TINY:
        assert equal_weights(tipshare.load(folder / kind), build_tiny(kind))
        assert not (folder / kind / "metrics.jsonl").exists()
    assert {record.kind for record in read_records(folder / "runs.jsonl")} == set(TINY)
    assert "float32" in capsys.readouterr().out


def test_a_variant_stands_beside_its_kind_under_a_name_of_its_own(runs, tmp_path, monkeypatch):
    record = dataclasses.replace(make_record("standard"), model="standard, wide")
    wide = tipshare.save(build_tiny("standard"), tmp_path / "wide", record=record)
    folder = tmp_path / "bundle"
    assert run_bundle(wide, runs / "standard", "--folder", folder) == 0
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(folder))
    assert tipshare.list_bundled() == ["standard", "standard-wide"]
    assert ModelShelf().choices() == [("Standard", "standard"), ("Standard, wide", "standard-wide")]


def test_large_weights_become_bfloat16(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "LARGEST_FLOAT32", 10_000)
    assert run_bundle(runs / "neural-ode", "--folder", tmp_path / "bundle") == 0
    stored = tipshare.checkpoint.read_folder(tmp_path / "bundle" / "neural-ode")
    assert str(stored.dtype) == "bfloat16"


def test_a_bundle_that_is_too_large_or_has_two_of_a_kind_is_refused_before_anything_is_written(
    runs, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "bundle"
    assert run_bundle(runs / "standard", runs / "standard", "--folder", folder) == 2
    assert "both standard" in capsys.readouterr().err
    monkeypatch.setattr(bundle, "LARGEST_BUNDLE", 1_000)
    assert run_bundle(runs / "standard", "--folder", folder) == 2
    assert "leave one out" in capsys.readouterr().err
    assert not folder.exists()


def test_records_are_added_and_those_of_the_same_run_replaced(tmp_path, capsys):
    folder = tmp_path / "bundle"
    write_records([make_record("standard", seed=1, loss=2.0), make_record("standard", seed=2)], folder / "runs.jsonl")
    write_records([dataclasses.replace(make_record("standard", seed=1), commit="1" * 40)], tmp_path / "new.jsonl")
    assert run_bundle("--records", tmp_path / "new.jsonl", "--folder", folder) == 0
    assert [(record.seed, record.commit[0]) for record in read_records(folder / "runs.jsonl")] == [(2, "0"), (1, "1")]
    assert run_bundle("--folder", folder) == 2
    assert "nothing to bundle" in capsys.readouterr().err


def test_a_folder_of_runs_gives_its_records_to_every_verb(runs, tmp_path, hub):  # noqa: F811
    """A run's metrics lie in the same folder, are JSON lines too, and are no records."""
    assert main(["report", str(runs), "--out", str(tmp_path / "report")]) == 0
    assert "Time-Indexed SSM" in (tmp_path / "report" / "report.md").read_text()
    assert run_bundle("--records", runs, "--folder", tmp_path / "bundle") == 0
    assert {record.kind for record in read_records(tmp_path / "bundle" / "runs.jsonl")} == set(TINY)
    assert main(["push", str(runs / "standard"), "--repo", "org/tiny", "--records", str(runs)]) == 0
    card = hub.repository("org/tiny").files()["README.md"].content.decode()
    assert all(f"| {kind} | " in card for kind in TINY)
