"""One check for the fields of configs and recipes, by their annotations and the bounds in their metadata."""

import dataclasses
import math
from typing import Any, Literal, get_args, get_origin, get_type_hints


def check_fields(instance: Any, where: str = "", most: float = math.inf) -> None:
    """Raise ValueError, with the value, the rule and the way out, unless every field fits its annotation.

    Bounds in a field's metadata: `least` (1 for whole numbers and 0 for others if left out), `most`, `below`; or
    `choices`, a function that gives the allowed values.

    Args:
        where: Put before the field's name in a message.
        most: Largest whole number where the metadata gives none.
    """
    types = get_type_hints(type(instance))
    for field in dataclasses.fields(instance):
        value, expected = getattr(instance, field.name), types[field.name]
        rule = _broken_rule(value, expected, field.metadata, most)
        if rule:
            raise ValueError(f"{where}{field.name}={value!r} {rule}")


def _broken_rule(value: Any, expected: Any, metadata: Any, most: float) -> str | None:
    """What is wrong with a value, or None. Annotations that are not known here are left to the class itself."""
    choices = metadata["choices"]() if "choices" in metadata else get_args(expected)
    if "choices" in metadata or get_origin(expected) is Literal:
        return None if value in choices else f"is not one of {', '.join(choices)}"
    if expected is int:
        least, most = metadata.get("least", 1), metadata.get("most", most)
        fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return None if fits else f"must be a whole number{_bounds(least, most, math.inf)}"
    if expected is float:
        least, most, below = metadata.get("least", 0.0), metadata.get("most", math.inf), metadata.get("below", math.inf)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return "must be a finite number"
        return None if least <= value <= most and value < below else f"must be a number{_bounds(least, most, below)}"
    if expected is str:
        return None if isinstance(value, str) else "must be a text"
    if expected is bool or bool in get_args(expected):
        fits = isinstance(value, bool) or (value is None and type(None) in get_args(expected))
        return None if fits else "must be true or false"
    if get_origin(expected) is tuple:
        kind = get_args(expected)[0]
        fits = isinstance(value, tuple) and all(
            isinstance(each, int | float if kind is float else kind) for each in value
        )
        return None if fits else f"must be a list of {kind.__name__}"
    return None


def _bounds(least: float, most: float, below: float) -> str:
    parts = [f"at least {least:g}"] if least > -math.inf else []
    parts += [f"at most {int(most) if float(most).is_integer() else most}"] if most < math.inf else []
    parts += [f"below {below:g}"] if below < math.inf else []
    return ", " + " and ".join(parts) if parts else ""
