"""Visitors who leave: what they asked for ends."""

from typing import Any
from urllib.parse import parse_qs

# The stream of messages that a visitor's page reads while its requests run.
STREAM = "/queue/data"


class EndWithReader:
    """An ASGI middleware: when a stream of messages breaks off, the requests of its reader end.

    Gradio does so itself unless the reader leaves in the middle of a message, as slow readers do: then the stream is
    cancelled outside of the code that would notice.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not scope["path"].rstrip("/").endswith(STREAM):
            await self._app(scope, receive, send)
            return
        is_complete = False

        async def watched(message: Any) -> None:
            nonlocal is_complete
            await send(message)
            is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self._app(scope, receive, watched)
        finally:
            session = parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
            if session and not is_complete:
                await scope["app"].get_blocks()._queue.clean_events(session_hash=session)
