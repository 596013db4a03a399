"""Records that visitors bring: good ones are read, bad ones are refused in words."""

import gc
import json
import weakref

import pytest

from app.results import uploads as limits
from app.results.uploads import NOTHING, Uploads, read_upload
from tests.training.results.factory import make_record, runs
from training.results.records import write_records


@pytest.fixture
def upload(tmp_path):
    """Write lines into a file, as uploaded."""

    def written(*lines: object):
        path = tmp_path / "runs.jsonl"
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        return path

    return written


def fields(**changes) -> dict:
    return {**json.loads(make_record().to_json()), **changes}


def test_a_file_that_training_wrote_is_read(tmp_path):
    write_records(runs("time-indexed-ssm"), tmp_path / "runs.jsonl")
    assert [each.seed for each in read_upload(tmp_path / "runs.jsonl")] == [0, 1, 2]


def test_a_repeated_run_counts_once(upload):
    assert len(read_upload(upload(fields(), fields()))) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "holds no record"),
        ("{", "line 1: the file ends in the middle of a record"),
        ("{\n{}", "line 1: the record is not valid JSON"),
        ("[1, 2]", "line 1: the record must be a JSON object, not list"),
        ({"a": 1}, "line 1: not a run record: missing"),
        ("[" * 100_000, "line 1: "),
        (fields(extra=1), "unknown \\['extra'\\]"),
        (fields(format=2), "record format 2 is not 1"),
        (fields(final=[1]), "final must be a JSON object"),
        (fields(final={"valid_loss": "low"}), "final.valid_loss='low' is not a finite number"),
        (json.dumps(fields()).replace('"valid_loss": 2.0', '"valid_loss": NaN'), "NaN is not a number"),
        (fields(kind="magic"), "kind='magic' is not the kind of its config"),
        (fields(kind="neural-ode"), "kind='neural-ode' is not the kind of its config"),
        (fields(seed="1"), "seed='1' must be a whole number"),
        (fields(seed=10**400), "must be a whole number"),
        (fields(parameters={"total": 1.5}), "parameters.total=1.5 must be a whole number"),
        (fields(curve=[[1, 2, 3]]), "curve must be a list of \\[step, loss\\] pairs"),
        (fields(curve=[[step, 1.0] for step in range(6000)]), "a curve of seed 42 has 6,000 points"),
        (fields(model="x" * 201), "model='x+.* must be a printable text of 1 to 200 letters"),
        (fields(model="\ud800"), "printable"),
        (fields(settings={"corpus": 3}), "settings.corpus=3 must be a printable text"),
        (fields(config={"kind": "standard", "hidden_dim": -1}), "line 1: hidden_dim"),
    ],
)
def test_a_bad_line_is_refused_in_words(upload, line, message):
    with pytest.raises(ValueError, match=message):
        read_upload(upload(line))


def test_the_line_that_is_wrong_is_named(upload):
    with pytest.raises(ValueError, match="line 3: "):
        read_upload(upload(fields(), fields(seed=1), fields(seed=-1)))


def test_files_too_large_or_not_text_are_refused(tmp_path, monkeypatch, upload):
    path = tmp_path / "binary.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read_upload(path)
    monkeypatch.setattr(limits, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="bytes; upload at most 10"):
        read_upload(upload(fields()))
    monkeypatch.setattr(limits, "MOST_BYTES", 10**7)
    monkeypatch.setattr(limits, "MOST_RECORDS", 1)
    with pytest.raises(ValueError, match="more than 1 records; upload at most that many"):
        read_upload(upload(fields(), fields(seed=1)))


@pytest.fixture
def uploads(checkpoints, monkeypatch) -> Uploads:
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(checkpoints))
    return Uploads()


def test_what_was_read_is_deleted_and_stands_beside_the_bundled_runs(uploads, upload):
    path = upload(fields())
    name, records = uploads.take("visitor", path)
    assert not path.exists()
    assert [each.model for each in records] == ["standard (yours)"]
    (group,) = uploads.board(name).groups
    assert set(group.labels) == {*(each for each in uploads.board(NOTHING).groups[0].labels), "standard (yours)"}


def test_a_file_that_is_refused_is_deleted_too(uploads, upload):
    path = upload("{")
    with pytest.raises(ValueError, match="line 1"):
        uploads.take("visitor", path)
    assert not path.exists()
    with pytest.raises(ValueError, match="the file is gone: upload it again"):
        uploads.take("visitor", path)


def test_nothing_of_an_upload_is_left_when_its_visitor_leaves(uploads, upload):
    """Neither the records nor what tables and tests have worked out of them."""
    name, _ = uploads.take("visitor", upload(fields(), fields(seed=1, final={"valid_loss": 2.1})))
    other, _ = uploads.take("another", upload(fields(), fields(seed=1)))
    board = uploads.board(name)
    board.show(board.groups[0].name, board.groups[0].labels, "both", unit="bits")
    left = [weakref.ref(each) for each in board.groups]
    uploads.forget("visitor")
    del board
    gc.collect()
    assert [each() for each in left] == [None]
    with pytest.raises(ValueError, match="your upload was dropped"):
        uploads.board(name)
    assert uploads.board(other).groups


def test_a_visitor_has_one_upload_and_all_have_a_bounded_number(uploads, upload, monkeypatch):
    first, _ = uploads.take("visitor", upload(fields()))
    second, _ = uploads.take("visitor", upload(fields(seed=1)))
    with pytest.raises(ValueError, match="dropped"):
        uploads.board(first)
    monkeypatch.setattr("app.results.uploads.MOST_KEPT_BYTES", 100)
    uploads.take("another", upload(fields(seed=2)))
    with pytest.raises(ValueError, match="dropped"):
        uploads.board(second)


def test_a_choice_is_worked_out_once(uploads, monkeypatch):
    board, counted = uploads.board(NOTHING), []
    monkeypatch.setattr("app.results.actions.notes_html", lambda selection: counted.append(1) or "")
    for _ in range(3):
        uploads.board(NOTHING).show(board.groups[0].name, board.groups[0].labels, "measured")
    assert len(counted) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{"settings": {"batch_size": size}, "model": f"m{size}"} for size in range(25)], "a recipe has 25 models"),
        ([{"settings": {"batch_size": size}} for size in range(25)], "a recipe has 25 models"),
        ([{"seed": seed} for seed in range(11)], "a model has 11 seeds; upload at most 10 of each"),
        ([{"recipe": f"r{number}"} for number in range(25)], "the runs are of 25 recipes or texts"),
        ([{"data": {"train": {"bytes": size}}} for size in range(25)], "the runs are of 25 recipes or texts"),
        (
            [{"seed": seed, "curve": [[step, 1.0] for step in range(5000)]} for seed in range(10)],
            "the curves have 50,020 points in all; upload at most 50,000",
        ),
    ],
)
def test_an_upload_asks_for_no_more_work_than_a_page_can_do(upload, changes, message):
    """100 models of 5 seeds once took a minute and a half of the page's time, 500 seeds two gigabytes."""
    with pytest.raises(ValueError, match=message):
        read_upload(upload(*(fields(**each) for each in changes)))
