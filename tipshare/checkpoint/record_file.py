"""record.json: the run that made the weights, as plain JSON fields."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tipshare.checkpoint.layout import RECORD
from tipshare.checkpoint.strict_json import dump_json

# What decides a run; the id is equal for two runs that agree in these.
ID_FIELDS = ("recipe", "config", "settings", "data", "seed")

ACCESS_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{16,}")


def record_id(record: dict[str, Any] | None) -> str:
    """Short name of the run in a record; empty without one."""
    if not record:
        return ""
    text = json.dumps({name: record.get(name) for name in ID_FIELDS}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def dump_record(record: dict[str, Any]) -> bytes:
    """The bytes of record.json; a record that gives away an access token or a home folder is refused."""
    if not isinstance(record, dict):
        raise ValueError(f"a record is a dictionary of JSON fields, not {type(record).__name__}")
    try:
        content = dump_json(record)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{RECORD} must be plain JSON with finite numbers: {error}") from error
    check_private(content.decode(), RECORD)
    return content


def check_private(text: str, name: str) -> None:
    """Raise ValueError if a text that is to be published holds an access token or the path of the home folder."""
    if ACCESS_TOKEN.search(text):
        raise ValueError(f"{name} holds what looks like an access token: remove it before saving or pushing")
    home = str(Path.home())
    if len(home) > 1 and re.search(re.escape(home) + r"(?![A-Za-z0-9_.-])", text):
        raise ValueError(f"{name} holds the path of your home folder: use relative paths")
