"""Records that visitors bring: good ones are read, bad ones are refused in words."""

import json

import pytest

from app.results import uploads
from app.results.uploads import read_upload
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
    monkeypatch.setattr(uploads, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="bytes; upload at most 10"):
        read_upload(upload(fields()))
    monkeypatch.setattr(uploads, "MOST_BYTES", 10**7)
    monkeypatch.setattr(uploads, "MOST_RECORDS", 1)
    with pytest.raises(ValueError, match="more than 1 records; upload at most that many"):
        read_upload(upload(fields(), fields(seed=1)))
