"""What is chosen on a tab, in the page's address: written there as it changes, and read when a link is opened."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import gradio as gr

from app.errors import warn

Values = TypeVar("Values")
# Between the parts of a list in an address.
BETWEEN = ";"


class Link:
    """The parameters of a link to one tab; what it does not name has its default.

    A value that a control cannot have raises a ValueError.
    """

    def __init__(self, query: Mapping[str, str], tab: str) -> None:
        self._said = dict(query) if query.get("tab") == tab else {}

    def text(self, name: str, default: Any, longest: int) -> Any:
        """Any text that is not too long."""
        said = self._said.get(name)
        if said is not None and len(said) > longest:
            raise ValueError(f"the link's {name} has {len(said):,} characters: give at most {longest:,}")
        return default if said is None else said

    def one_of(self, name: str, default: Any, allowed: Iterable[str]) -> Any:
        """One of some names."""
        return self.some_of(name, [default], allowed)[0]

    def some_of(self, name: str, default: Any, allowed: Iterable[str]) -> Any:
        """Several of some names."""
        if name not in self._said:
            return default
        wanted, known = self._said[name].split(BETWEEN), list(allowed)
        for each in wanted:
            if each not in known:
                raise ValueError(f"the link says {name}={each[:80]!r}, which is not here; there is {', '.join(known)}")
        return wanted

    def number(self, name: str, default: Any, low: float, high: float) -> Any:
        """A number between two others; whole if they are."""
        if name not in self._said:
            return default
        kind = int if all(isinstance(each, int) for each in (low, high)) else float
        try:
            found = kind(self._said[name])
        except ValueError:
            found = None
        if found is None or not low <= found <= high:
            raise ValueError(f"the link says {name}={self._said[name][:40]!r}: give a number from {low:g} to {high:g}")
        return found


def open_link(request: gr.Request, tab: str, read: Callable[[Link], Values]) -> Values:
    """What the page's address says about a tab, as `read` takes it from a link.

    A damaged link says nothing, and its visitor is told what is wrong with it.
    """
    try:
        return read(Link(dict(request.query_params), tab))
    except ValueError as error:
        warn(error)
        return read(Link({}, tab))


def keep_in_address(control: Any, name: str, default: Any, *, forget: Sequence[str] = (), on: Any = None) -> None:
    """Write what a visitor chooses into the address, and remove it when it is the default again.

    Args:
        forget: Parameters that no longer fit when this one changes.
        on: The events; the control's `input` if None.
    """
    script = f"(value) => tipshare.keep({json.dumps(name)}, value, {json.dumps(default)}, {json.dumps(list(forget))})"
    gr.on(on or control.input, None, control, None, js=script, api_visibility="private", queue=False)


def add_copy_button(elem_id: str) -> None:
    """A button that copies the address of the view."""
    button = gr.Button("Copy link", size="sm", elem_id=elem_id, elem_classes="copy-link")
    button.click(None, None, None, js="() => tipshare.copyAddress()", api_visibility="private")
