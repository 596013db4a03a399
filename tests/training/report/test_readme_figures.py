"""The figures of README and docs show what the records say."""

import json
from pathlib import Path

from tests.training.results.factory import make_record, published_records, step_report, tuned_records
from training.report.readme_figures import README_FIGURES, digest_of, views_of, write_readme_figures
from training.results.records import RunRecord, read_records

ROOT = Path(__file__).parents[3]
# Figures that the documents show as soon as there is something to draw.
LATER = (
    "finetuning.png",
    "elastic.png",
    "depth-speed.png",
    "training-time.png",
    "scaling.png",
    "scaling-flops.png",
)


def outdated_figures(records: list[RunRecord], folder: Path, benchmarks: Path | None = None) -> list[str]:
    """Names of the figures that are missing or show other numbers than records and benchmarks."""
    digests = {name: digest_of(view) for name, view in views_of(records, benchmarks).items()}
    wanted = [name for name in README_FIGURES if name in digests or name not in LATER]
    texts = {name: path.read_bytes() if (path := folder / name).is_file() else b"" for name in wanted}
    return [name for name, text in texts.items() if name not in digests or digests[name].encode() not in text]


def test_the_figures_in_the_docs_are_those_of_the_records():
    records = read_records(ROOT / "checkpoints" / "runs.jsonl")
    assert outdated_figures(records, ROOT / "docs", ROOT / "checkpoints" / "benchmarks") == []
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "results").glob("*.md"))
    for name in README_FIGURES:
        assert (f"(../{name})" in pages) == (ROOT / "docs" / name).exists()


def test_a_figure_is_outdated_once_a_number_has_changed(tmp_path):
    records = published_records()
    written = write_readme_figures(records, tmp_path)
    assert [path.name for path in written] == ["loss.png", "sizes.png"]  # the other recipes have no runs
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loss.png", "sizes.png"]
    usual = [name for name in README_FIGURES if name not in LATER]
    others = [name for name in usual if tmp_path / name not in written]
    assert outdated_figures(records, tmp_path) == others
    changed = [*records[:-1], make_record(records[-1].kind, records[-1].seed, loss=2.5)]
    assert outdated_figures(changed, tmp_path) == usual
    tuned = [make_record(kind, recipe="finetune-wikitext-2-to-shakespeare") for kind in ("standard", "neural-ode")]
    assert outdated_figures([*changed, *tuned], tmp_path) == [*usual, "finetuning.png"]
    assert tmp_path / "finetuning.png" in write_readme_figures([*changed, *tuned], tmp_path)


def test_figures_of_the_tuned_protocol_appear_with_its_runs(tmp_path):
    """And sizes are those of the protocol that leads then."""
    (tmp_path / "steps.json").write_text(json.dumps(step_report()))
    published, records = published_records(), [*published_records(), *tuned_records()]
    write_readme_figures(published, tmp_path, tmp_path)
    assert {path.name for path in tmp_path.glob("*.png")} == {"loss.png", "sizes.png"}
    assert {"sizes.png", "elastic.png", "training-time.png"} <= set(outdated_figures(records, tmp_path, tmp_path))
    write_readme_figures(records, tmp_path, tmp_path)
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "loss.png",
        "sizes.png",
        "elastic.png",
        "training-time.png",
    }
