"""What is turned away before Gradio sees it, and what Gradio is kept from."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gradio as gr
import httpx2
import pytest
from gradio import processing_utils

from app import door
from app.serve import launch_settings


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The address of a page that takes a file."""
    with gr.Blocks(analytics_enabled=False) as demo:
        file = gr.File()
        file.change(lambda given: None, file, None, preprocess=False)
    _, address, _ = demo.queue().launch(prevent_thread_lock=True, server_port=None, **launch_settings())
    yield f"{address}gradio_api"
    demo.close()


@pytest.fixture
def address(tmp_path, monkeypatch) -> Iterator[str]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with serving() as address:
        yield address


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory) -> Iterator[str]:
    """The address of a page for tests that send nothing to it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("unchanged")))
        with serving() as address:
            yield address


@pytest.fixture
def elsewhere(monkeypatch):
    """The address of a host that Gradio takes files from, and the requests that it gets."""
    asked: list[str] = []

    class Host(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Host) as host:
        monkeypatch.setattr(processing_utils, "PUBLIC_HOSTNAME_WHITELIST", ["127.0.0.1"])
        threading.Thread(target=host.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{host.server_port}/file", asked
        host.shutdown()


def upload(address: str, content: bytes) -> httpx2.Response:
    return httpx2.post(f"{address}/upload", files={"files": ("runs.jsonl", content)})


def test_a_file_that_is_too_large_is_not_taken(address, tmp_path):
    assert upload(address, b"x" * 1000).status_code == 200
    refused = upload(address, b"x" * (door.LARGEST_BODY + 1))
    assert refused.status_code == 413
    assert refused.json()["detail"] == "This is too large: send at most 6,000,000 bytes."
    assert door.size_of(tmp_path) < 100_000


def test_a_body_without_a_length_ends_where_it_is_too_large(address, tmp_path):
    def endless():
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.jsonl"\r\n\r\n'
        for _ in range(40):
            yield b"x" * 1_000_000

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    try:
        answer = httpx2.post(f"{address}/upload", content=endless(), headers=headers)
    except httpx2.TransportError:
        pass  # the server hung up while this was still sending
    else:
        assert answer.status_code >= 400
    assert door.size_of(tmp_path) < 2 * door.LARGEST_BODY


def test_the_disk_is_not_filled_with_uploads(address, monkeypatch):
    monkeypatch.setattr(door, "MOST_UPLOADED", 10_000)
    codes = [upload(address, b"%d" % number * 5_000).status_code for number in range(5)]
    assert codes[0] == 200
    assert codes[-1] == 503


def test_what_visitors_trained_is_no_upload(tmp_path):
    (tmp_path / door.TRAINED / "one").mkdir(parents=True)
    (tmp_path / door.TRAINED / "one" / "model.zip").write_bytes(b"x" * 10_000)
    (tmp_path / "upload").mkdir()
    (tmp_path / "upload" / "runs.jsonl").write_bytes(b"x" * 5_000)
    assert door.size_of(tmp_path) == 5_000


def test_the_server_fetches_nothing_that_a_visitor_names(address, elsewhere):
    target, asked = elsewhere
    given = {"path": target, "meta": {"_type": "gradio.FileData"}}
    body = {"data": [given], "fn_index": 0, "session_hash": "them"}
    httpx2.post(f"{address}/queue/join", json=body).raise_for_status()
    told = httpx2.get(f"{address}/queue/data", params={"session_hash": "them"}).text
    assert asked == []
    assert "This page takes no addresses of files." in told
    with pytest.raises(gr.Error):
        gr.File().move_resource_to_block_cache(target)
    assert asked == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "process_recording"),
        ("POST", "process_recording/"),
        ("GET", "deep_link?session_hash=them"),
        ("GET", "file=https://127.0.0.1/x"),
        ("GET", "file=https%3A//127.0.0.1/x"),
        ("GET", "file/http://127.0.0.1/x"),
        ("GET", "runs"),
        ("POST", "run-history/connect"),
        ("GET", "run-history/buckets"),
    ],
)
def test_what_gradio_offers_besides_is_not_here(unchanged, method, path):
    assert httpx2.request(method, f"{unchanged}/{path}").status_code == 404


def test_nobody_watches_the_visitors(unchanged):
    assert httpx2.get(f"{unchanged.removesuffix('gradio_api')}monitoring/summary").status_code == 403
