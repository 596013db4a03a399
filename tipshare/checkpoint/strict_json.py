"""JSON that came from somewhere else: of bounded size, without NaN and without repeated keys."""

import json
from pathlib import Path
from typing import Any

from tipshare.checkpoint.errors import CheckpointError
from tipshare.checkpoint.layout import LARGEST_JSON


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint."""
    try:
        size = path.stat().st_size
        if size > LARGEST_JSON:
            raise CheckpointError(f"{path.name} has {size:,} bytes, more than the {LARGEST_JSON:,} that are read")
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.name} is missing: this folder is not a complete checkpoint") from error
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read: {error.strerror}") from error
    return parse_json(content, path.name)


def parse_json(content: bytes, name: str) -> dict[str, Any]:
    """The JSON object that `content` holds; errors call it by `name`."""
    try:
        parsed = json.loads(
            content.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys
        )
    except (ValueError, RecursionError) as error:  # ValueError covers bad UTF-8, bad JSON and numbers without end
        raise CheckpointError(f"{name} is not the JSON of a checkpoint: {error}") from error
    if not isinstance(parsed, dict):
        raise CheckpointError(f"{name} must hold a JSON object, not {type(parsed).__name__}")
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
