"""The numbers in README and docs are the ones in the records and benchmarks."""

import json
from pathlib import Path

import pytest

from tests.training.results.factory import make_record
from training.report.readme import PARTS, between_marks, update_documents, written_parts
from training.results.records import read_records

ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "checkpoints" / "benchmarks"


@pytest.fixture
def project(tmp_path) -> Path:
    """A project's folder whose documents hold every mark, and an old text between them."""
    for part in PARTS:
        path = tmp_path / part.file
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else "first line\n"
        path.write_text(f"{before}{between_marks(part.name, 'old')}\nafter {part.name}\n")
    return tmp_path


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.file}, {part.name}")
def test_a_document_shows_what_records_and_benchmarks_say(part):
    records = read_records(ROOT / "checkpoints" / "runs.jsonl")
    written = written_parts(records, BENCHMARKS)[part]
    assert written in (ROOT / part.file).read_text(encoding="utf-8")


def test_runs_of_the_same_seed_repeat_each_other():
    """At a constant learning rate the longer recipe passes through the shorter one: same windows, same losses."""
    records = read_records(ROOT / "checkpoints" / "runs.jsonl")
    short = {(run.model, run.seed): dict(run.curve) for run in records if run.recipe == "published-1000"}
    long = {(run.model, run.seed): dict(run.curve) for run in records if run.recipe == "published-3000"}
    assert long
    for run, curve in long.items():
        for step in (500, 1000):
            assert curve[step] == pytest.approx(short[run][step], abs=1e-3)


def test_updating_replaces_what_stands_between_the_marks(project, tmp_path):
    report = {"parties": {"plain torch": {"step_ms": 400.0}, "standard": {"step_ms": 321.0, "time_over_standard": 1.0}}}
    (tmp_path / "training.json").write_text(json.dumps(report))
    update_documents(project, [make_record(loss=1.234)], tmp_path)
    for part in PARTS:
        text = (project / part.file).read_text()
        assert text.startswith("first line\n")
        assert f"\nafter {part.name}\n" in text
        assert "old" not in text
    assert "1.234" in (project / "README.md").read_text()
    assert "| Standard | 321 |" in (project / "docs/results/speed.md").read_text()


def test_published_shapes_stay_out_of_the_comparison_of_kinds():
    shaped = make_record("neural-ode", loss=1.111, model="neural-ode, published shape")
    texts = {(part.file, part.name): text for part, text in written_parts([make_record(), shaped]).items()}
    assert "1.111" not in texts["README.md", "results"]
    assert "1.111" not in texts["docs/results/index.md", "results"]
    assert "1.111" in texts["docs/results/published.md", "shapes"]


def test_without_benchmarks_the_speed_stays(project):
    update_documents(project, [make_record()])
    assert between_marks("training speed", "old") in (project / "docs/results/speed.md").read_text()


def test_nothing_is_written_if_a_mark_is_missing(project):
    (project / "docs/results/ablations.md").write_text("nothing here")
    with pytest.raises(ValueError, match="must hold one part"):
        update_documents(project, [make_record()])
    assert between_marks("results", "old") in (project / "README.md").read_text()


def test_a_document_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"there is no .*README\.md"):
        update_documents(tmp_path, [make_record()])
