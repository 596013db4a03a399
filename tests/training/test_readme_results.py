"""The README's results are the ones in the records."""

from pathlib import Path

import pytest

from tests.training.factory import make_record
from training.readme import BEGIN, END, results_section, update_readme
from training.records import read_records

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_what_the_records_say():
    records = read_records(ROOT / "checkpoints" / "runs.jsonl")
    assert results_section(records) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_updating_replaces_what_stands_between_the_marks(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    update_readme([make_record(loss=1.234)], readme)
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "1.234" in text


def test_a_readme_without_marks_is_refused(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("nothing here")
    with pytest.raises(ValueError, match="must hold one part"):
        update_readme([make_record()], readme)
