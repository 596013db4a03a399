"""A visitor who leaves in mid-stream leaves nothing running."""

import itertools
import json
import time
from contextlib import contextmanager

import httpx2
import pytest

import tipshare
from app.generate.active_runs import Runs
from app.page import build_demo
from app.serve import launch_settings
from app.shelf.limits import LONGEST_WRITING


class WatchedRuns(Runs):
    """Counts the runs that were cut short by closing them."""

    def __init__(self) -> None:
        super().__init__()
        self.cut_short = 0

    @contextmanager
    def begin(self, visitor: str):
        with super().begin(visitor) as sign:
            try:
                yield sign
            except GeneratorExit:
                self.cut_short += 1
                raise


@pytest.fixture
def runs() -> WatchedRuns:
    return WatchedRuns()


@pytest.fixture
def demo(shelf, runs):
    demo = build_demo(shelf, runs)
    demo.launch(prevent_thread_lock=True, server_port=None, **launch_settings())
    yield demo
    demo.close()


@pytest.fixture
def endless(demo, shelf, runs, monkeypatch) -> str:
    """The session of a run that never finishes by itself: each model writes its first piece again and again."""
    stream, session = tipshare.stream, "leaving"
    monkeypatch.setattr(tipshare, "stream", lambda *given, **named: itertools.repeat(next(stream(*given, **named))))
    monkeypatch.setattr(runs.measured, "compile", lambda *_: None)  # it reads a stream to its end
    config = httpx2.get(f"{demo.local_url}config").json()
    (number,) = (each["id"] for each in config["dependencies"] if each["api_name"] == "write")
    request = {
        "data": ["", shelf.names(), 1.0, 0, 1.0, 0.0, 1.0, LONGEST_WRITING, 0, 0],
        "fn_index": number,
        "session_hash": session,
    }
    httpx2.post(f"{demo.local_url}gradio_api/queue/join", json=request).raise_for_status()
    return session


def wait_for_the_end(runs: WatchedRuns) -> None:
    while runs.count():
        time.sleep(0.01)
    assert runs.cut_short == 1


def test_a_client_that_disconnects_ends_its_run(demo, runs, endless):
    place = f"{demo.local_url}gradio_api/queue/data"
    with httpx2.stream("GET", place, params={"session_hash": endless}) as answer:
        for line in answer.iter_lines():
            if line.startswith("data:") and json.loads(line[5:])["msg"] == "process_generating":
                break
        assert runs.count() == 1
    wait_for_the_end(runs)
