"""Values of the page's controls."""

from collections.abc import Sequence
from typing import Any

import gradio as gr


def text(name: str, value: Any) -> str:
    """A text from a control, which gives None for an empty one."""
    if not isinstance(value, str | type(None)):
        raise ValueError(f"{name.replace('_', '-')}={value!r:.80} must be a text")
    return value or ""


def texts(name: str, value: Any) -> list[str]:
    """The texts that are chosen in a list; none for an empty one."""
    if not isinstance(value, list | tuple | type(None)) or not all(isinstance(each, str) for each in value or ()):
        raise ValueError(f"{name.replace('_', '-')}={value!r:.80} must be a list of texts")
    return list(value or ())


def whole_number(name: str, value: Any) -> int:
    """A whole number from a control, which may give 3.0 for 3 and None for an empty field."""
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_whole:
        raise ValueError(f"{name.replace('_', '-')}={value!r:.80} must be a whole number")
    return int(value)


def told(sent: Any, value: Any, **changes: Any) -> dict[str, Any]:
    """The update of a control, with its value only if that is another than the page sent.

    A visitor may have chosen once more in the meantime, which must stay.
    """
    # Lists of what is chosen are in the order of the clicks.
    is_same = sorted(value) == sorted(sent) if isinstance(value, list) and isinstance(sent, list) else value == sent
    return gr.update(**changes) if is_same else gr.update(**changes, value=value)


def as_linked(values: Sequence[Any], usual: Sequence[Any]) -> list[Any]:
    """What controls are told when a page opens: only what its link sets, since a visitor may have begun to choose."""
    return [gr.skip() if value == other else value for value, other in zip(values, usual, strict=True)]
