"""ValueErrors, and errors of the system such as a full disk, as messages on the page."""

import functools
import html
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

# Paths of the server mean nothing to a visitor and may help an attacker; web addresses are kept.
_PATH = re.compile(r"(?<![\w:/.])/(?:[\w.@+-]+/)+[\w.@+-]*")


def in_words(error: ValueError | OSError) -> str:
    """The message of an error as the page shows it."""
    if isinstance(error, OSError) and error.strerror:
        return f"The server cannot do this now: {error.strerror}. Try again later."
    message = _PATH.sub("(a file of the server)", str(error).strip()) or "this does not work"
    return message[0].upper() + message[1:]


def shown_to_user(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function or generator with such errors shown as messages on the page; other errors are bugs."""
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def yielding(*arguments: Any, **keywords: Any) -> Iterator[Any]:
            try:
                yield from function(*arguments, **keywords)
            except (ValueError, OSError) as error:
                raise _shown(error) from error

        return yielding

    @functools.wraps(function)
    def returning(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except (ValueError, OSError) as error:
            raise _shown(error) from error

    return returning


def warn(error: ValueError) -> None:
    """Show an error that ends nothing, as that of a damaged link, from inside of an event."""
    gr.Warning(_escaped(error))


def _escaped(error: ValueError | OSError) -> str:
    # Gradio shows messages as HTML, in which quotes are harmless; clients of the API read them more easily unescaped.
    return html.escape(in_words(error), quote=False)


def _shown(error: ValueError | OSError) -> gr.Error:
    return gr.Error(_escaped(error), duration=12, print_exception=isinstance(error, OSError))
