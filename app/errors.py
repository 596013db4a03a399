"""From ValueError to words on the page."""

import functools
import html
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

# A path of this machine says nothing to a visitor and something to an attacker; addresses on the web stay.
_PATH = re.compile(r"(?<![\w:/.])/(?:[\w.@+-]+/)+[\w.@+-]*")


def in_words(error: ValueError) -> str:
    """The message of an error, fit to be shown."""
    message = _PATH.sub("(a file of the server)", str(error).strip()) or "this does not work"
    return message[0].upper() + message[1:]


def shown_to_user(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, or generator, with ValueError shown as a message on the page; other errors stay bugs."""
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def yielding(*arguments: Any, **keywords: Any) -> Iterator[Any]:
            try:
                yield from function(*arguments, **keywords)
            except ValueError as error:
                raise _gradio_error(error) from error

        return yielding

    @functools.wraps(function)
    def returning(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except ValueError as error:
            raise _gradio_error(error) from error

    return returning


def _gradio_error(error: ValueError) -> gr.Error:
    # Gradio shows messages as HTML; quotes are harmless there and easier to read plainly from the API.
    message = html.escape(in_words(error), quote=False)
    return gr.Error(message, title="That did not work", duration=12, print_exception=False)
