"""Records that a visitor brings: read, checked and bounded, with errors in words."""

import json
import math
from pathlib import Path
from typing import Any

from tipshare.config import KINDS
from training.results.records import RunRecord

MOST_BYTES = 5_000_000
MOST_RECORDS = 1_000
MOST_POINTS = 5_000
LONGEST_NAME = 120

_TEXTS = ("recipe", "kind", "model", "command", "commit", "finished")
_OBJECTS = ("config", "settings", "data", "final", "parameters", "speed", "memory", "flops", "machine")
_COUNTS = ("seed", "num_steps", "tokens_seen")


def read_upload(path: Path) -> list[RunRecord]:
    """The records of an uploaded JSON lines file, or a ValueError that says what is wrong with it."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"the file has {size:,} bytes; upload at most {MOST_BYTES:,}")
    try:
        lines = path.read_bytes().decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError("the file is not UTF-8 text; a runs.jsonl holds one JSON object per line") from error
    records = [_read_line(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    if not records:
        raise ValueError("the file holds no record; a runs.jsonl holds one JSON object per line")
    if len(records) > MOST_RECORDS:
        raise ValueError(f"the file holds {len(records):,} records; upload at most {MOST_RECORDS:,}")
    return list({record.id: record for record in records}.values())


def _read_line(line: str, number: int) -> RunRecord:
    try:
        record = RunRecord.from_json(_checked(line))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"line {number}: {str(error)[:400]}") from error
    return record


def _checked(line: str) -> str:
    """The line, if its fields have the types that tables and figures rely on."""
    fields = json.loads(line)
    if not isinstance(fields, dict):
        return line
    for name in _TEXTS:
        _expect(fields, name, isinstance(fields.get(name), str), "a text")
    for name in ("recipe", "model"):
        _expect(fields, name, len(fields.get(name, "")) <= LONGEST_NAME, f"at most {LONGEST_NAME} letters")
    for name in _OBJECTS:
        _expect(fields, name, isinstance(fields.get(name), dict), "a JSON object")
    for name in _COUNTS:
        _expect(fields, name, _is_whole(fields.get(name)), "a whole number, 0 or more")
    for name, value in fields.get("parameters", {}).items():
        _expect(fields, "parameters", _is_whole(value), f"whole numbers, but {name!r:.40} is not")
    for name in ("curve", "train_curve"):
        curve = fields.get(name)
        _expect(fields, name, isinstance(curve, list) and all(map(_is_point, curve)), "a list of [step, loss] pairs")
        _expect(fields, name, len(fields.get(name, [])) <= MOST_POINTS, f"at most {MOST_POINTS:,} points")
    kind = fields.get("kind")
    _expect(fields, "kind", kind in KINDS, f"one of {', '.join(KINDS)}")
    _expect(fields, "config", fields.get("config", {}).get("kind") == kind, "of the same kind as the record")
    corpus = fields.get("settings", {}).get("corpus", "")
    _expect(
        fields, "settings", isinstance(corpus, str) and len(corpus) <= LONGEST_NAME, "an object with a short corpus"
    )
    return line


def _expect(fields: dict[str, Any], name: str, fine: bool, rule: str) -> None:
    # Fields that are missing are named together when the record is made.
    if name in fields and not fine:
        raise ValueError(f"{name} must be {rule}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_point(point: object) -> bool:
    return isinstance(point, list) and len(point) == 2 and all(map(_is_finite, point))


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
