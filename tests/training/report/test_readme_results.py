"""The README's numbers are the ones in the records and benchmarks."""

import json
from pathlib import Path

import pytest

from tests.training.results.factory import make_record
from training.report.readme import SECTIONS, between_marks, speed_section, update_readme
from training.results.records import read_records

ROOT = Path(__file__).parents[3]
OTHERS = "".join(between_marks(name, "") for name in SECTIONS if name != "results")


def test_the_readme_shows_what_records_and_benchmarks_say():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    records = read_records(ROOT / "checkpoints" / "runs.jsonl")
    for name, write in SECTIONS.items():
        assert write(records) in readme, name
    assert speed_section(ROOT / "checkpoints" / "benchmarks") in readme


def test_runs_of_the_same_seed_repeat_each_other():
    """At a constant learning rate the longer recipe passes through the shorter one: same windows, same losses."""
    records = read_records(ROOT / "checkpoints" / "runs.jsonl")
    short = {(run.model, run.seed): dict(run.curve) for run in records if run.recipe == "published-1000"}
    long = {(run.model, run.seed): dict(run.curve) for run in records if run.recipe == "published-3000"}
    assert long
    for run, curve in long.items():
        for step in (500, 1000):
            assert curve[step] == pytest.approx(short[run][step], abs=1e-3)


def test_updating_replaces_what_stands_between_the_marks(tmp_path):
    readme = tmp_path / "README.md"
    old = between_marks("results", "old") + "\nbetween\n" + between_marks("speed", "slow") + OTHERS
    readme.write_text(f"before\n{old}\nafter\n")
    report = {"parties": {"plain torch": {"step_ms": 400.0}, "standard": {"step_ms": 321.0, "time_over_standard": 1.0}}}
    (tmp_path / "training.json").write_text(json.dumps(report))
    update_readme(readme, [make_record(loss=1.234)], tmp_path)
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "\nbetween\n" in text
    assert "old" not in text
    assert "slow" not in text
    assert "1.234" in text
    assert "| Standard | 321 |" in text


def test_published_shapes_stay_out_of_the_comparison_of_kinds():
    shaped = make_record("neural-ode", loss=1.111, model="neural-ode, published shape")
    assert "1.111" not in SECTIONS["results"]([make_record(), shaped])
    assert "1.111" in SECTIONS["repetitions"]([make_record(), shaped])


def test_without_benchmarks_the_speed_stays(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(between_marks("results", "old") + between_marks("speed", "as it was") + OTHERS)
    update_readme(readme, [make_record()])
    assert between_marks("speed", "as it was") in readme.read_text()


def test_a_readme_without_marks_is_refused(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("nothing here")
    with pytest.raises(ValueError, match="must hold one part"):
        update_readme(readme, [make_record()])
