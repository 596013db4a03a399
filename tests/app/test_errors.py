"""What a visitor reads when something goes wrong: a sentence, and no path of the server."""

import errno
import os
from collections.abc import Iterator

import gradio as gr
import httpx2
import pytest

from app.errors import in_words, shown_to_user


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("length=0 must be at least 1"), "Length=0 must be at least 1"),
        (ValueError("there is no folder /srv/data/model"), "There is no folder (a file of the server)"),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/srv/data/runs"),
            "The server cannot do this now: No space left on device. Try again later.",
        ),
        (OSError(), "This does not work"),
    ],
)
def test_an_error_is_a_sentence_without_a_path(error, words):
    assert in_words(error) == words

    def fails() -> None:
        raise error

    def fails_in_the_middle() -> Iterator[int]:
        yield 1
        raise error

    with pytest.raises(gr.Error) as shown:
        shown_to_user(fails)()
    assert shown.value.message == words
    updates = shown_to_user(fails_in_the_middle)()
    assert next(updates) == 1
    with pytest.raises(gr.Error):
        next(updates)


@pytest.mark.parametrize(
    ("query", "event"),
    [
        ({"tab": "gates", "model": "<img src=x>"}, "list_gate_models"),
        ({"tab": "dynamics", "model": "<img src=x>"}, "open_dynamics"),
        ({"tab": "train", "kind": "<img src=x>"}, "open_train"),
        ({"tab": "results", "recipe": "<img src=x>"}, "show_results"),
    ],
)
def test_nothing_of_a_link_is_taken_for_html(server, query, event):
    address, visitor = f"{server.address}/gradio_api/queue", f"link to {query['tab']}"
    config = httpx2.get(f"{server.address}/config").json()
    (dependency,) = (each for each in config["dependencies"] if each["api_name"] == event)
    body = {"data": [None] * len(dependency["inputs"]), "fn_index": dependency["id"], "session_hash": visitor}
    httpx2.post(f"{address}/join", params=query, json=body).raise_for_status()
    told = httpx2.get(f"{address}/data", params={"session_hash": visitor}, timeout=60).text
    assert "&lt;img src=x&gt;" in told
    assert "<img" not in told


def test_other_errors_are_bugs():
    with pytest.raises(KeyError):
        shown_to_user({}.__getitem__)("missing")
