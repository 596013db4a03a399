"""A stream that breaks off, wherever it is at that moment, ends the requests of its reader."""

import asyncio
from types import SimpleNamespace

from starlette.responses import StreamingResponse

from app.leaving import EndWithReader


def ended_sessions(*, leaves: bool, path: str = "/gradio_api/queue/data") -> list[str]:
    """The sessions that were ended after a reader took a stream of two messages, or left in the middle of the first."""
    ended = []

    async def clean_events(*, session_hash: str) -> None:
        ended.append(session_hash)

    async def read() -> None:
        in_the_middle = asyncio.Event()

        async def receive() -> dict:
            await in_the_middle.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict) -> None:
            if leaves and message.get("body"):
                in_the_middle.set()
                await asyncio.Event().wait()  # the connection takes no more

        async def messages():
            for text in ("data: 1", "data: 2"):
                yield text

        queue = SimpleNamespace(clean_events=clean_events)
        page = SimpleNamespace(get_blocks=lambda: SimpleNamespace(_queue=queue))
        scope = {"type": "http", "path": path, "query_string": b"session_hash=them", "app": page, "headers": []}
        await EndWithReader(StreamingResponse(messages()))(scope, receive, send)

    asyncio.run(read())
    return ended


def test_whoever_leaves_in_the_middle_of_a_message_ends_their_requests():
    assert ended_sessions(leaves=True) == ["them"]


def test_whoever_reads_to_the_end_and_other_addresses_end_nothing():
    assert ended_sessions(leaves=False) == []
    assert ended_sessions(leaves=True, path="/gradio_api/heartbeat/them") == []
