"""What is turned away: what is too large, uploads that would fill the disk, and what this page does not offer."""

import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import processing_utils
from starlette.responses import JSONResponse

# A prompt of a million characters, or an upload, and what surrounds it.
LARGEST_BODY = 6_000_000
# Uploads of all visitors that have not been read yet. A file is deleted as soon as it has been.
MOST_UPLOADED = 200_000_000
# What a small file takes on a disk.
LEAST_FILE = 4_096
UPLOAD = "/upload"
# The folder, in that of uploads, of what visitors trained: `app.train` bounds it, and it is no upload.
TRAINED = "trained"
# What Gradio offers and this page does not: to convert recordings, to keep a visitor's state for good, and to hand on
# what another host answers.
NOT_HERE = re.compile(r"/process_recording$|/deep_link$|/file[=/]https?:")

Receive = Callable[[], Awaitable[dict[str, Any]]]


class Door:
    """An ASGI middleware."""

    def __init__(self, app: Callable[..., Awaitable[None]], folder: Path) -> None:
        """Before `app`; `folder` is where uploads go."""
        self._app = app
        self._folder = folder

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Any) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is not None:
            code, words = refusal
            await JSONResponse({"detail": words, "error": words}, code)(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive) if scope["type"] == "http" else receive, send)

    def _refusal(self, scope: dict[str, Any]) -> tuple[int, str] | None:
        path = scope["path"].rstrip("/")
        if NOT_HERE.search(path):
            return 404, "This page does not offer that."
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return 413, f"This is too large: send at most {LARGEST_BODY:,} bytes."
        if path.endswith(UPLOAD) and size_of(self._folder) > MOST_UPLOADED:
            return 503, "Too many files are waiting to be read: try again in some minutes."
        return None


def _bounded(receive: Receive) -> Receive:
    """The same messages until a body without a declared length becomes too large; then the client is gone."""
    received = 0

    async def bounded() -> dict[str, Any]:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        return message if received <= LARGEST_BODY else {"type": "http.disconnect"}

    return bounded


def fetch_nothing() -> None:
    """Keep Gradio from downloading the files whose addresses visitors send in the place of any value, of any size."""

    async def refuse(*_: Any, **__: Any) -> None:
        raise gr.Error("This page takes no addresses of files.", print_exception=False)

    for name in ("async_ssrf_protected_get", "async_ssrf_protected_download"):
        setattr(processing_utils, name, refuse)


def size_of(folder: Path) -> int:
    """Bytes on disk of the uploads in a folder; what goes away meanwhile does not count."""
    total = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != TRAINED]
        for name in names:
            try:
                total += max(LEAST_FILE, os.lstat(os.path.join(place, name)).st_size)
            except FileNotFoundError:
                continue
    return total
