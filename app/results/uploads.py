"""Records that a visitor uploads: bounded in number and size, with errors in words."""

from pathlib import Path

from tipshare.checkpoint.record import RunRecord
from training.results.records import parse_records

MOST_BYTES = 5_000_000
MOST_RECORDS = 1_000
# Figures draw every point of a curve.
MOST_POINTS = 5_000


def read_upload(path: Path) -> list[RunRecord]:
    """The records of an uploaded JSON lines file, or a ValueError that says what is wrong with it."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"the file has {size:,} bytes; upload at most {MOST_BYTES:,}")
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("the file is not UTF-8 text; a runs.jsonl holds one JSON object per line") from error
    records: dict[str, RunRecord] = {}
    for count, record in enumerate(parse_records(text, "the file"), start=1):
        if count > MOST_RECORDS:
            raise ValueError(f"the file holds more than {MOST_RECORDS:,} records; upload at most that many")
        points = max(len(record.curve), len(record.train_curve))
        if points > MOST_POINTS:
            raise ValueError(f"a curve of seed {record.seed} has {points:,} points; upload at most {MOST_POINTS:,}")
        records[record.id] = record
    if not records:
        raise ValueError("the file holds no record; a runs.jsonl holds one JSON object per line")
    return list(records.values())
