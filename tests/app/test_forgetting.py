"""A visitor who closes the page leaves nothing behind: no file, no records, no models in a list."""

import time
from pathlib import Path

import pytest
from gradio_client import Client, handle_file

from app.page import build_demo
from app.results.uploads import Uploads
from app.serve import launch_settings
from tests.training.results.factory import runs
from training.results.records import write_records


@pytest.fixture
def address(shelf, uploads, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    monkeypatch.setenv("GRADIO_HEARTBEAT_INTERVAL", "0.1")  # how soon it is noticed that a visitor has left
    demo = build_demo(shelf, uploads=uploads)
    _, address, _ = demo.launch(prevent_thread_lock=True, server_port=None, **launch_settings())
    yield address
    demo.close()


@pytest.fixture
def uploads() -> Uploads:
    return Uploads()


def test_an_upload_is_shown_and_forgotten(address, uploads, shelf, tmp_path):
    write_records(runs("standard"), tmp_path / "runs.jsonl")
    client = Client(address, verbose=False, analytics_enabled=False)
    note = client.predict(handle_file(tmp_path / "runs.jsonl"), api_name="/upload_records")
    assert "Runs read: 3" in str(note)
    assert len(uploads._kept) == 1
    assert [path for path in Path(tmp_path / "gradio").rglob("*") if path.name == "runs.jsonl"] == []
    mine = shelf.of(client.session_hash)
    mine._added[client.session_hash] = ["org/fetched"]
    client.close()
    while uploads._kept or client.session_hash in mine._added:
        time.sleep(0.05)
