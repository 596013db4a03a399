"""Small changes to bytes, JSON values and safetensors headers, drawn from a random generator."""

import json
import struct
from typing import Any

import numpy as np

NASTY_BYTES = [b"\x00", b"\xff", b"{", b"}", b"[", b'"', b"-", b"9" * 40, b"1e999", b"NaN", b"null", b"../", b"\\u0000"]
NASTY_BYTES += [b"\\ud800", b"[" * 2000]
NASTY_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**40,
    10**400,
    1e308,
    "",
    "../..",
    "/etc/passwd",
    "<script>alert(1)</script>",
    "\ud800",
    "x" * 100_000,
    [],
    {},
    [[]],
    {"a": {}},
    "\x00",
]


def draw(random: np.random.Generator, values: list[Any]) -> Any:
    """One of some values, as it is: numpy's own choice would turn them into arrays."""
    return values[int(random.integers(len(values)))]


def mutate_bytes(content: bytes, random: np.random.Generator) -> bytes:
    """Flip, cut, repeat, insert or exchange a few bytes."""
    changed = bytearray(content)
    for _ in range(int(random.integers(1, 4))):
        at = int(random.integers(len(changed) + 1))
        match int(random.integers(6)):
            case 0 if at < len(changed):
                changed[at] ^= 1 << int(random.integers(8))
            case 1:
                del changed[at : at + int(random.integers(1, 30))]
            case 2:
                changed[at:at] = changed[at : at + int(random.integers(1, 30))]
            case 3:
                changed[at:at] = draw(random, NASTY_BYTES)
            case 4:
                other = int(random.integers(len(changed) + 1))
                changed[at : at + 8], changed[other : other + 8] = changed[other : other + 8], changed[at : at + 8]
            case _:
                del changed[at:]
    return bytes(changed)


def mutate_value(value: Any, random: np.random.Generator) -> Any:
    """Replace, drop, rename or nest one part of a JSON value."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = draw(random, list(value))
        changed = dict(value)
        match int(random.integers(8)):
            case 0:
                del changed[key]
            case 1:
                changed[str(draw(random, NASTY_VALUES))[:200]] = changed[key]
            case _:
                changed[key] = mutate_value(value[key], random)
        return changed
    if isinstance(value, list) and value and random.random() < 0.7:
        at = int(random.integers(len(value)))
        return [*value[:at], mutate_value(value[at], random), *value[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.4:
        return draw(random, [value * 2, value + 1, -value, value * 1000, float(value), 1, 2])
    return draw(random, NASTY_VALUES)


def mutate_json(content: bytes, random: np.random.Generator) -> bytes:
    """A JSON text with changed bytes, or with a changed value."""
    value = _parsed(content)
    if value is None or random.random() < 0.4:
        return mutate_bytes(content, random)
    return dump(mutate_value(value, random))


def mutate_weights(content: bytes, random: np.random.Generator) -> bytes:
    """A safetensors file with changed bytes, or with a changed header."""
    length = int.from_bytes(content[:8], "little")
    value = _parsed(content[8 : 8 + length])
    if value is None or random.random() < 0.4:
        return mutate_bytes(content, random)
    text = dump(mutate_value(value, random))
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def _parsed(content: bytes) -> Any:
    """The JSON value in a text; None if it was changed before and holds none any more."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def dump(value: Any) -> bytes:
    """A JSON text; it may hold what the standard does not allow, as hostile files do."""
    return json.dumps(value).encode()
