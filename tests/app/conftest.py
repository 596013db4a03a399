"""Tiny models on a shelf, and the demo served by a process of its own."""

from collections.abc import Iterator

import pytest

from app.shelf import ModelShelf, compiled
from tests.app.models import save_tiny_models
from tests.app.server import Server, running_demo


@pytest.fixture(scope="session", autouse=True)
def keep_compiled_code() -> Iterator[None]:
    """A process of tests has compiled more programs than the demo ever does, and goes on needing them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "MOST_PROGRAMS", 10**9)
        yield


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory):
    """A folder with a tiny checkpoint of every kind."""
    return save_tiny_models(tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture
def shelf(checkpoints, monkeypatch) -> ModelShelf:
    """A shelf with the tiny models."""
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(checkpoints))
    return ModelShelf()


@pytest.fixture(scope="session")
def server(checkpoints, tmp_path_factory) -> Iterator[Server]:
    """The demo on the tiny models."""
    with running_demo(checkpoints, tmp_path_factory.mktemp("demo") / "demo.log") as running:
        yield running
