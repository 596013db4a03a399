"""JSON lines files of run records, such as the `runs.jsonl` of a folder of runs."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from tipshare.checkpoint.record import RunRecord
from tipshare.files import write_text

# The name that record files have in a folder; other JSON lines there, such as a run's metrics, hold no records.
FILE_NAME = "runs.jsonl"

TORN = (
    "the file ends in the middle of a record, so writing or copying it was interrupted. Delete this last line; "
    "repeating the command of that run adds its record again"
)


def read_records(path: Path) -> list[RunRecord]:
    """All records of a file, or of every `runs.jsonl` in a folder and its subfolders; the last of each id wins."""
    files = sorted(path.rglob(FILE_NAME)) if path.is_dir() else [path]
    for file in files:
        if file.exists() and not file.is_file():
            raise ValueError(f"{file} is not a regular file: records are lines of a text file")
    records = (record for file in files for record in parse_records(_read_text(file), file.name))
    return list({record.id: record for record in records}.values())


def known_records(*paths: Path) -> list[RunRecord]:
    """The records of files that may not be there yet."""
    return [record for path in paths if path.exists() for record in read_records(path)]


def parse_records(text: str, name: str) -> Iterator[RunRecord]:
    """The records of a text with one JSON object per line; a ValueError names the line that is wrong, and why."""
    # Not splitlines: a record may hold other characters that Python takes for the end of a line.
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield RunRecord.from_json(line)
        except ValueError as error:
            torn = number == len(lines) and isinstance(error.__cause__, json.JSONDecodeError)
            raise ValueError(f"{name}, line {number}: {TORN if torn else error}") from error


def append_record(record: RunRecord, path: Path) -> None:
    """Add a record to a JSON lines file; a record of the same id is replaced, so that a rerun does not count twice."""
    others = [each for each in known_records(path) if each.id != record.id]
    write_records([*others, record], path)


def write_records(records: Iterable[RunRecord], path: Path) -> None:
    """Write all records as a whole: a reader sees the old file or the new one."""
    write_text(path, "".join(record.to_json() + "\n" for record in records))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not UTF-8 text; a record file holds one JSON object per line") from error
