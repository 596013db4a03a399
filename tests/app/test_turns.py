"""The queue of the page: one visitor cannot fill it, and everybody's turn comes."""

import threading

import gradio as gr
import httpx2
import pytest
from gradio.events import api

from app import turns
from app.serve import launch_settings
from app.turns import use_fair_queue


class Page:
    """A page with one event that waits until it is released, and notes who was served."""

    def __init__(self, demo: gr.Blocks, address: str) -> None:
        self.demo, self.address = demo, f"{address}gradio_api"
        self.served: list[str] = []
        self.release = threading.Semaphore(0)
        self.begun = threading.Semaphore(0)

    def join(self, visitor: str, host: str = "10.0.0.1") -> httpx2.Response:
        """Ask for a turn; the server takes the word of a proxy on this machine for where a request comes from."""
        (number,) = (number for number, each in self.demo.fns.items() if each.api_name == "work")
        body = {"data": [], "fn_index": number, "session_hash": visitor}
        return httpx2.post(f"{self.address}/queue/join", json=body, headers={"X-Forwarded-For": host})

    def serve(self, count: int) -> list[str]:
        """Let so many more turns begin; who had them."""
        for _ in range(count):
            self.release.release()
            self.begun.acquire()
        return self.served[-count:]


@pytest.fixture
def page():
    waiting: list[Page] = []

    def work(request: gr.Request) -> str:
        waiting[0].served.append(str(request.session_hash))
        waiting[0].begun.release()
        waiting[0].release.acquire()
        return "done"

    with gr.Blocks(analytics_enabled=False) as demo:
        api(work, api_name="work", concurrency_limit=1)
    use_fair_queue(demo, at_once=1)
    _, address, _ = demo.launch(prevent_thread_lock=True, server_port=None, **launch_settings())
    page = Page(demo, address)
    waiting.append(page)
    yield page
    for _ in range(300):
        page.release.release()
    demo.close()


def test_one_visitor_cannot_fill_the_line(page):
    page.join("greedy").raise_for_status()
    page.begun.acquire()  # the first one runs
    codes = [page.join("greedy").status_code for _ in range(turns.MOST_OF_A_VISITOR + 1)]
    assert codes == [200] * (turns.MOST_OF_A_VISITOR - 1) + [429] * 2
    refused = page.join("greedy")
    assert refused.json()["detail"] == "12 requests of yours are under way: let some of them end first"
    assert page.join("patient").status_code == 200


def test_visitors_take_turns(page):
    page.join("greedy").raise_for_status()
    page.begun.acquire()
    for _ in range(4):
        page.join("greedy").raise_for_status()
    for name in ("first", "second"):
        page.join(name).raise_for_status()
    # One request of the greedy waited before the others came; then it is their turn.
    assert sorted(page.serve(3)) == ["first", "greedy", "second"]
    assert page.serve(2) == ["greedy", "greedy"]


def test_made_up_visitors_share_the_turns_of_their_address(page, monkeypatch):
    monkeypatch.setattr(turns, "MOST_OF_AN_ADDRESS", 6)
    page.join("mask 0", "10.0.0.6").raise_for_status()
    page.begun.acquire()
    codes = [page.join(f"mask {number}", "10.0.0.6").status_code for number in range(1, 9)]
    assert codes == [200] * 5 + [429] * 3
    assert "from your address" in page.join("mask 9", "10.0.0.6").json()["detail"]
    page.join("honest", "10.0.0.7").raise_for_status()
    assert "honest" in page.serve(2)


def test_who_reads_no_answers_gets_no_more(page, monkeypatch):
    monkeypatch.setattr(turns, "MOST_UNREAD", 0)
    page.join("deaf").raise_for_status()
    page.begun.acquire()  # which it is told
    refused = page.join("deaf")
    assert refused.status_code == 429
    assert "unread" in refused.json()["detail"]
    assert page.join("other").status_code == 200


def test_nothing_can_be_sent_past_the_queue(page):
    answer = httpx2.post(f"{page.address}/run/work", json={"data": []})
    assert answer.status_code == 404
    assert page.served == []
