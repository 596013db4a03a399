"""The numbers in README and docs are the ones in the records and benchmarks."""

import json
from pathlib import Path

import pytest

from tests.training.results.factory import make_record, published_records, step_report, tuned_records, tuned_run
from training.recipes.library import RECIPES
from training.report.readme import PAGES, between_marks, update_documents, written_parts
from training.results.records import read_records

PARTS = [(file, name) for file, parts in PAGES.items() for name in parts]
ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "checkpoints" / "benchmarks"


@pytest.fixture
def project(tmp_path) -> Path:
    """A project's folder whose documents hold every mark, and an old text between them."""
    for file, name in PARTS:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else "first line\n"
        path.write_text(f"{before}{between_marks(name, 'old')}\nafter {name}\n")
    return tmp_path


@pytest.fixture(scope="module")
def records():
    """The records that travel with the project."""
    return read_records(ROOT / "checkpoints" / "runs.jsonl")


@pytest.mark.parametrize(("file", "name"), PARTS, ids=lambda word: word)
def test_a_document_shows_what_records_and_benchmarks_say(file, name, records):
    written = between_marks(name, PAGES[file][name](records, BENCHMARKS) or "")
    assert written in (ROOT / file).read_text(encoding="utf-8")


def test_runs_of_the_same_seed_repeat_each_other(records):
    """At a constant learning rate the longer recipe passes through the shorter one: same windows, same losses."""
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
    for file, name in PARTS:
        text = (project / file).read_text()
        assert text.startswith("first line\n")
        assert f"\nafter {name}\n" in text
        assert "old" not in text
    assert "1.234" in (project / "README.md").read_text()
    assert "| Standard | 321 |" in (project / "docs/results/speed.md").read_text()


def test_published_shapes_stay_out_of_the_comparison_of_kinds():
    shaped = make_record("neural-ode", loss=1.111, model="neural-ode, published shape")
    texts = written_parts([make_record(), shaped])
    assert "1.111" not in texts["README.md", "results"]
    assert "1.111" not in texts["docs/results/index.md", "results"]
    assert "1.111" in texts["docs/results/published.md", "shapes"]


def test_the_published_protocol_leads_until_tuned_runs_can_be_compared():
    few = [run for run in tuned_records() if run.seed == 0]
    texts = written_parts([*published_records(), *few])
    assert "Recipe `published-1000`" in texts["docs/results/index.md", "protocol"]
    assert "Time-Indexed SSM reaches 2.147 ± 0.173" in texts["README.md", "results"]
    assert "Not measured yet." in texts["docs/results/index.md", "variants"]


def test_the_tuned_protocol_leads_once_it_can_be_compared(tmp_path):
    (tmp_path / "steps.json").write_text(json.dumps(step_report()))
    halves = [
        tuned_run("standard", seed, recipe="tuned-1000+num_steps=500", num_steps=500, curve=[[500, 1.5]])
        for seed in (0, 1, 2)
    ]
    texts = written_parts([*published_records(), *tuned_records(), *halves], tmp_path)
    readme = texts["README.md", "results"]
    assert "After 1,000 steps on wikitext-2, Time-Indexed SSM reaches 1.38" in readme
    assert "| State space with a block per layer |" in readme
    assert "Trained at drawn depths, Time-Indexed SSM is at most 0.024 nats per byte" in readme
    assert "2.147" not in readme
    assert "3 seeds, every model on the same windows in the same order, each with the optimizer" in readme
    assert "ms/step" not in readme  # of runs that shared their machine
    assert "At equal training time with batches of 8 x 128" in texts["README.md", "equal time"]
    assert (
        "| State space with a block per layer |" not in texts["docs/results/index.md", "pairs"]
    )  # the correction is over pairs of kinds
    assert "gates on t against plain sharing" in texts["docs/results/index.md", "variants"]
    assert "Runs whose schedules ended after the same time" in texts["docs/results/index.md", "equal time"]
    assert "(../training-time.png)" in texts["docs/results/index.md", "equal time"]
    assert "2.147" in texts["docs/results/published.md", "headline"]
    unfinished = written_parts([*published_records(), *tuned_records()], tmp_path)["README.md", "equal time"]
    assert (
        "The time of a training step of Time-Indexed SSM is 0.50 of that of Standard with batches of 8 x" in unfinished
    )


def test_longer_runs_and_another_text_have_tables_of_their_own():
    settings = {"corpus": "shakespeare", "batch_size": 12, "length": 64}
    other = make_record(loss=1.777, recipe="shakespeare-cpu", settings=settings)
    place = ("docs/results/index.md", "other protocols")
    text = written_parts([*published_records(), other])[place]
    assert "setting on tiny Shakespeare (shakespeare-cpu, 1,000 steps)" in text
    assert "shakespeare as bytes, 1,000 training steps of 12 x 64 bytes, 1 seed" in text
    assert f"For comparison: {RECIPES['shakespeare-cpu'].expected}." in text
    assert "| 1.777 |" in text
    assert "Not measured yet." in written_parts(published_records())[place]


def test_the_page_on_depth_shows_what_was_measured_and_nothing_else(tmp_path):
    names = ("fixed and drawn", "price", "reach", "gates", "features", "speed", "early exit")
    bare = written_parts(published_records(), tmp_path)
    assert all("Not measured yet." in bare["docs/results/depth.md", name] for name in names)
    assert "Not measured yet." in bare["docs/results/scaling.md", "scaling"]
    assert "Not measured yet." in bare["docs/results/scaling.md", "loops"]
    (tmp_path / "depth-time-indexed-ssm.json").write_text(json.dumps(depth_report()))
    texts = written_parts([*published_records(), *tuned_records()], tmp_path)
    assert {name for name in names if "Not measured yet." in texts["docs/results/depth.md", name]} == {"features"}
    assert "(../elastic.png)" in texts["docs/results/depth.md", "fixed and drawn"]
    assert "(../depth-speed.png)" in texts["docs/results/depth.md", "speed"]
    assert "| 3 | 3 | 1.300 | 200 | 2.00x |" in texts["docs/results/depth.md", "speed"]
    assert (
        "at a price of at most 0.01 nats per byte, stopping below 0.01 nats uses 5.00 of 6 depth steps"
        in texts["docs/results/depth.md", "early exit"]
    )


def depth_report() -> dict:
    """An invented report of `python -m training depth`."""
    depths = [
        {"depth_steps": steps, "block_evaluations": steps, "loss": loss, "bytes_per_second": speed}
        | {"first_byte_seconds": steps / 1000}
        for steps, loss, speed in ((3, 1.30, 200.0), (6, 1.25, 100.0), (12, 1.26, 50.0))
    ]
    exits = [
        {"limit": limit, "average_depth": depth, "loss": loss, "share_of_operations": share}
        for limit, depth, loss, share in ((1e-3, 6.0, 1.25, 1.05), (1e-2, 5.0, 1.255, 0.9), (1e-1, 3.0, 1.4, 0.6))
    ]
    about = {"checkpoint": "time-indexed-ssm", "kind": "time-indexed-ssm", "own_depth_steps": 6, "solver": "euler"}
    about |= {"drawn_depth_steps": [3, 6, 12], "num_windows": 8, "context": 16, "corpus": "builtin", "rounds": 1}
    return {**about, "machine": {"device": "cpu"}, "depths": depths, "early_exit": exits}


def test_without_benchmarks_the_speed_stays(project):
    update_documents(project, [make_record()])
    assert between_marks("equal time", "old") in (project / "README.md").read_text()
    assert between_marks("training speed", "old") in (project / "docs/results/speed.md").read_text()


def test_nothing_is_written_if_a_mark_is_missing(project):
    (project / "docs/results/ablations.md").write_text("nothing here")
    with pytest.raises(ValueError, match="must hold one part"):
        update_documents(project, [make_record()])
    assert between_marks("results", "old") in (project / "README.md").read_text()


def test_a_document_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"there is no .*README\.md"):
        update_documents(tmp_path, [make_record()])
