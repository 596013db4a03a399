"""The report as a whole."""

import json
import re

import pytest

from tests.training.results.factory import group_of, make_record, published_records, runs
from tipshare.config import KINDS
from training.report.folder import section_of, write_report
from training.report.tables import to_markdown
from training.results.published import PUBLISHED, published_for
from training.results.selection import Selection
from training.results.views.comparisons import significance_table


def test_a_report_of_several_recipes(tmp_path):
    records = [*published_records(), make_record("time-indexed-mlp", recipe="quick", loss=1.5)]
    report = write_report(records, tmp_path)
    assert all(each.is_file() for each in report.files)
    assert not list(tmp_path.rglob("*.tmp"))
    summary = json.loads((tmp_path / "statistics_summary.json").read_text())
    assert [each["name"] for each in summary["groups"]] == ["published-1000", "quick"]
    ssm = summary["groups"][0]["models"]["time-indexed-ssm"]["metrics"]["valid_loss"]
    assert (ssm["low"], ssm["high"]) == pytest.approx((1.974, 2.319), abs=5e-4)
    assert summary["groups"][1]["models"]["time-indexed-mlp"]["metrics"]["valid_loss"]["low"] is None
    tests = json.loads((tmp_path / "significance_tests.json").read_text())
    assert [len(each["comparisons"]) for each in tests["groups"]] == [6, 0]
    first = tests["groups"][0]["comparisons"][0]
    assert first["paired"]["p_value"] == pytest.approx(0.0205, abs=1e-4)
    assert first["p_holm"] > first["p_value"] == first["paired"]["p_value"]
    text = (tmp_path / "report.md").read_text()
    assert text.count("\n## ") == 2
    for link in re.findall(r"!\[[\w ]+\]\(([^)]+)\)", text):
        assert (tmp_path / link).is_file()
    assert {each.suffix for each in (tmp_path / "quick").iterdir()} == {".md", ".tex", ".csv", ".png", ".pdf"}
    assert any(note.startswith("quick: No figure significance") for note in report.notes)


def test_a_report_without_the_metric_names_those_there_are(tmp_path):
    with pytest.raises(ValueError, match="no record has the final number 'valid_loss'; the records have accuracy"):
        write_report([make_record(final={"accuracy": 0.5})], tmp_path)
    with pytest.raises(ValueError, match="the records have none"):
        write_report([], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_section_says_what_is_wrong_with_the_published_rows():
    section = section_of(group_of(*published_records()))
    assert "None of the four models is causal" in section
    assert "standard deviation with n" in section
    assert "causal" not in section_of(group_of(*runs(recipe="quick")))


def test_published_tables_are_complete():
    assert set(PUBLISHED) == {"published-1000", "published-3000", "wikitext-103"}
    assert published_for("quick") is None
    for experiment in PUBLISHED.values():
        for result in experiment.results:
            assert result.kind in KINDS
            assert len(result.seed_losses) in (0, len(experiment.seeds))
            assert not result.curve or result.curve[-1][1] == pytest.approx(result.loss, abs=5e-4)


def test_significance_table_has_a_line_for_every_pair():
    lines = to_markdown(significance_table(Selection(group=group_of(*published_records())))).splitlines()
    assert len(lines) == 2 + 6
    assert "| Standard | Neural ODE | +0.031 | +0.008 to +0.054 | 5 | 0.0205 | 0.0631 | 0.0625 |" in lines[2]
