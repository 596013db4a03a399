"""Whose turn it is: a queue in which one visitor cannot keep the others waiting."""

import time
from collections import OrderedDict
from functools import partial
from typing import Any

from fastapi import HTTPException, Request
from gradio.queueing import Event, EventQueue, Queue

# Requests that wait, of all visitors; when so many do, new ones are told that the page is busy.
MOST_WAITING = 128
# That wait or run: of one visitor, which is what a busy page sends, and of one address, behind which may be several.
MOST_OF_A_VISITOR, MOST_OF_AN_ADDRESS = 12, 64
# Answers to a visitor that nobody has read; a page reads each as it comes.
MOST_UNREAD = 1_000
# Visitors and addresses whose last turn is remembered.
MOST_REMEMBERED = 4_096
TOO_MANY_REQUESTS = 429


class FairQueue(Queue):
    """Gradio's queue, with a limit for every visitor, and turns instead of first come, first served.

    Next is whoever has the fewest requests running and was served longest ago, by address and then by visitor: many
    visitors that one sender makes up share the turns of one address.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        # When visitors and addresses were last served, oldest first.
        self._served: OrderedDict[str, float] = OrderedDict()

    async def push(self, body: Any, request: Request, username: str | None) -> Any:
        """Let a request wait, unless too many of the same visitor are under way."""
        under_way = [each for queue in self.event_queue_per_concurrency_id.values() for each in queue.queue]
        under_way += self._running()
        theirs = sum(each.session_hash == body.session_hash for each in under_way)
        if theirs >= MOST_OF_A_VISITOR:
            raise HTTPException(
                TOO_MANY_REQUESTS, f"{theirs} requests of yours are under way: let some of them end first"
            )
        unread = self.pending_messages_per_session.get(body.session_hash)
        if unread is not None and unread.qsize() > MOST_UNREAD:
            raise HTTPException(TOO_MANY_REQUESTS, f"{unread.qsize():,} answers to you are unread: read them first")
        address = address_of(request)
        if sum(address_of(each.request) == address for each in under_way) >= MOST_OF_AN_ADDRESS:
            raise HTTPException(
                TOO_MANY_REQUESTS,
                f"{MOST_OF_AN_ADDRESS} requests from your address are under way: try again when some have ended",
            )
        return await super().push(body, request, username)

    def get_events(self) -> Any:
        """The next requests to run, and where they waited."""
        for queue in self.event_queue_per_concurrency_id.values():
            if len(queue.queue) > 1 and _has_room(queue):
                running = [each for each in self._running() if each.concurrency_id == queue.concurrency_id]
                queue.queue.sort(key=partial(self._priority, running))
        found = super().get_events()
        if found is not None:
            for event in found[0]:
                self._note(event)
        return found

    def _running(self) -> list[Event]:
        return [event for job in self.active_jobs if job is not None for event in job]

    def _priority(self, running: list[Event], event: Event) -> tuple[int, int, float, float]:
        """Lowest first. Who was never served comes after those who waited before, so that new names win nothing."""
        address = address_of(event.request)
        return (
            sum(address_of(each.request) == address for each in running),
            sum(each.session_hash == event.session_hash for each in running),
            max(self._served.get(f"address {address}", 0.0), event.enqueue_time),
            max(self._served.get(f"visitor {event.session_hash}", 0.0), event.enqueue_time),
        )

    def _note(self, event: Event) -> None:
        for name in (f"address {address_of(event.request)}", f"visitor {event.session_hash}"):
            self._served[name] = time.monotonic()
            self._served.move_to_end(name)
        while len(self._served) > MOST_REMEMBERED:
            self._served.popitem(last=False)


def use_fair_queue(demo: Any, *, at_once: int) -> Any:
    """Give a page this queue; an event runs `at_once` times at the same time unless it says otherwise."""
    # Without api_open, no request can be sent past the queue.
    demo.queue(max_size=MOST_WAITING, default_concurrency_limit=at_once, api_open=False)
    first = demo._queue
    demo._queue = FairQueue(
        live_updates=first.live_updates,
        concurrency_count=first.max_thread_count,
        update_intervals=first.update_intervals,
        max_size=first.max_size,
        blocks=demo,
        default_concurrency_limit=at_once,
    )
    return demo


def address_of(request: Request | Any) -> str:
    """Where a request comes from; behind a proxy, uvicorn's FORWARDED_ALLOW_IPS says whose word is taken for it."""
    client = getattr(request, "client", None)
    return client.host if client else ""


def _has_room(queue: EventQueue) -> bool:
    return queue.concurrency_limit is None or queue.current_concurrency < queue.concurrency_limit
