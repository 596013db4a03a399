"""A running loopback Hub, and the real client pointed at it."""

import os
from collections.abc import Iterator

import pytest
from huggingface_hub import constants

from tests.compiling import compiler_environment
from tests.hub.server import TOKEN, LoopbackHub, running_hub


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Iterator[LoopbackHub]:
    """A fresh Hub; in this process the client talks to it, signed in, with an empty cache."""
    with running_hub() as server:
        template = server.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
        if hasattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE"):
            monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield server


@pytest.fixture
def hub_environment(hub, tmp_path) -> dict[str, str]:
    """What another process needs to talk to the Hub of this test."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    return {
        **kept,
        "HF_ENDPOINT": hub.endpoint,
        "HF_TOKEN": TOKEN,
        "HF_HOME": str(tmp_path / "hf-home"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "JAX_PLATFORMS": "cpu",
        **compiler_environment(),
    }
