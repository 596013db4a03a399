"""Checks of numbers, and of the fields of configs, recipes and settings: one style of message for all of them."""

import dataclasses
import math
import sys
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np


def check_whole(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """`value` as an int, or a ValueError with the value and the rule."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        raise ValueError(f"{name}={value!r:.200} must be a whole number{_bounds(least=least, most=most)}")
    return int(value)


def check_number(
    name: str,
    value: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
) -> float:
    """`value` as a float if it is finite and within the bounds, or a ValueError with the value and the rule."""
    # A short float of numpy would cast the bounds to its own type, in which the largest of them overflow.
    value = value.item() if isinstance(value, np.number) else value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # NaN and the infinities fail the comparisons, and so does a whole number that no float can hold.
    if not is_number or not (least <= value <= most and above < value < below and abs(value) <= sys.float_info.max):
        bounds = _bounds(least=least, above=above, most=most, below=below)
        raise ValueError(f"{name}={value!r:.200} must be a finite number{bounds}")
    return float(value)


def check_fields(instance: Any, where: str = "", most: int | None = None) -> None:
    """Raise ValueError unless every field of a dataclass fits its annotation; numpy numbers become plain ones, and
    whole numbers where floats are meant become floats.

    Bounds in a field's metadata: `least` (1 for whole numbers and 0 for others if left out), `above`, `most`, `below`;
    or `choices`, a function that gives the allowed values. Other annotations are left to the class itself.

    Args:
        where: Put before the field's name in a message.
        most: Largest whole number where the metadata gives none.
    """
    types = get_type_hints(type(instance))
    for field in dataclasses.fields(instance):
        value = getattr(instance, field.name)
        _check_value(f"{where}{field.name}", value, types[field.name], field.metadata, most)
        if isinstance(value, np.generic):
            value = value.item()
        # A whole number would make whole numbers of the arrays that start at it.
        if types[field.name] is float:
            value = float(value)
        object.__setattr__(instance, field.name, value)


def check_names(cls: Any, given: Any, what: str) -> None:
    """Raise ValueError, with the names of the fields of a dataclass, unless all given names are among them."""
    known = {field.name for field in dataclasses.fields(cls)}
    unknown = ", ".join(map(repr, sorted(set(given) - known)))
    if unknown:
        raise ValueError(f"unknown {what} {unknown[:200]}; the {what}s are {', '.join(sorted(known))}")


def _check_value(name: str, value: Any, expected: Any, metadata: Any, most: int | None) -> None:
    choices = metadata["choices"]() if "choices" in metadata else get_args(expected)
    if type(None) in choices:
        if value is None:
            return
        expected = next(each for each in choices if each is not type(None))
    if "choices" in metadata or get_origin(expected) is Literal:
        if value not in choices:
            raise ValueError(f"{name}={value!r:.200} is not one of {', '.join(choices)}")
    elif expected is int:
        check_whole(name, value, **{"most": most, **metadata})
    elif expected is float:
        lower = {} if "above" in metadata else {"least": 0.0}
        check_number(name, value, **{**lower, **metadata})
    elif expected is str and not isinstance(value, str):
        raise ValueError(f"{name}={value!r:.200} must be a text")
    elif expected is bool and not isinstance(value, bool):
        raise ValueError(f"{name}={value!r:.200} must be true or false")
    elif get_origin(expected) is tuple:
        kind = choices[0]
        accepted = int | float if kind is float else kind
        if not isinstance(value, tuple) or not all(isinstance(each, accepted) for each in value):
            raise ValueError(f"{name}={value!r:.200} must be a list of {kind.__name__}")


def _bounds(**bounds: float | None) -> str:
    words = {"least": "at least", "above": "above", "most": "at most", "below": "below"}
    finite = {name: bound for name, bound in bounds.items() if bound is not None and math.isfinite(bound)}
    parts = [f"{words[name]} {bound if bound % 1 else int(bound)}" for name, bound in finite.items()]
    return ", " + " and ".join(parts) if parts else ""
