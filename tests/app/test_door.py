"""What is turned away before Gradio sees it."""

import gradio as gr
import httpx2
import pytest

from app import door
from app.serve import launch_settings


@pytest.fixture
def address(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with gr.Blocks(analytics_enabled=False) as demo:
        gr.File()
    _, address, _ = demo.queue().launch(prevent_thread_lock=True, server_port=None, **launch_settings())
    yield f"{address}gradio_api"
    demo.close()


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


@pytest.mark.parametrize("path", ["process_recording", "process_recording/"])
def test_the_page_takes_no_recordings(address, path):
    assert httpx2.post(f"{address}/{path}", files={"video": ("a.mp4", b"x")}).status_code == 404
