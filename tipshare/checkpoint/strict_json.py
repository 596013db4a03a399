"""JSON that came from somewhere else: of bounded size, without NaN and without repeated keys."""

import json
from pathlib import Path
from typing import Any

from tipshare.checkpoint.errors import CheckpointError
from tipshare.checkpoint.layout import LARGEST_JSON
from tipshare.checkpoint.regular_files import read_file


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint."""
    return parse_json(read_file(path, LARGEST_JSON), path.name)


def parse_json(content: str | bytes, name: str) -> dict[str, Any]:
    """The JSON object that `content` holds, or a CheckpointError that calls it by `name`."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        parsed = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys)
    except (ValueError, RecursionError) as error:  # ValueError: bad UTF-8, bad JSON, whole numbers of too many digits
        raise CheckpointError(f"{name} is not valid JSON: {str(error)[:200]}") from error
    if not isinstance(parsed, dict):
        raise CheckpointError(f"{name} must be a JSON object, not {type(parsed).__name__}")
    return parsed


def dump_json(fields: dict[str, Any]) -> bytes:
    """A JSON object as the bytes of a file; the same fields always give the same bytes."""
    return (json.dumps(fields, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n").encode()


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key appears twice")
    return fields
