"""Visitors in threads, until the time is over."""

import threading
import time
from collections.abc import Mapping

from tests.load.tally import Tally, memory_mb, seconds_until_rest
from tests.load.visitors import GOOD, HOSTILE, ON_REQUEST, RefusedError, Visit, Visitor

# Kinds of visitors who mean well.
KINDS = {**GOOD, **ON_REQUEST}


def run_crowd(
    address: str,
    *,
    clients: int | Mapping[str, int],
    seconds: float,
    length: int = 100,
    hostile: int = 0,
    process: int | None = None,
) -> Tally:
    """Run all visitors in parallel until the time is over; each completes its last visit, and makes at least one.

    Args:
        clients: How many visitors mean well, of all kinds in `GOOD` by turns; or how many of each kind in `KINDS`.
        process: That of the server, whose memory is watched, and which must come to rest afterwards.
    """
    tally, ends, over = Tally(), time.monotonic() + seconds, threading.Event()
    if isinstance(clients, int):
        good = _spread(GOOD, clients)
    else:
        good = [(kind, KINDS[kind]) for kind, count in clients.items() for _ in range(count)]
    kinds = [*good, *_spread(HOSTILE, hostile)]
    visitors = [Visitor(address.rstrip("/"), number, length) for number in range(len(kinds))]
    threads = [
        threading.Thread(target=_keep_visiting, args=(visitor, kind, visit, ends, tally))
        for visitor, (kind, visit) in zip(visitors, kinds, strict=True)
    ]
    watcher = threading.Thread(target=_watch_memory, args=(process, over, tally))
    for thread in (watcher, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    over.set()
    watcher.join()
    tally.rest = seconds_until_rest(process)
    return tally


def _spread(kinds: dict[str, Visit], count: int) -> list[tuple[str, Visit]]:
    """So many visitors, of all kinds by turns."""
    offered = list(kinds.items())
    return [offered[number % len(offered)] for number in range(count)]


def _keep_visiting(visitor: Visitor, kind: str, visit: Visit, ends: float, tally: Tally) -> None:
    from gradio_client.exceptions import AppError
    from httpx import HTTPError

    while True:
        began = time.monotonic()
        try:
            visit(visitor)
            tally.add(kind, time.monotonic() - began)
        except RefusedError:
            tally.add(kind, time.monotonic() - began, refused=True)
        except (AppError, HTTPError, OSError, ValueError, KeyError) as error:
            tally.add(kind, time.monotonic() - began, failure=f"{type(error).__name__}: {str(error)[:200]}")
            visitor.leave()
        if time.monotonic() >= ends:
            visitor.leave()
            return


def _watch_memory(process: int | None, over: threading.Event, tally: Tally) -> None:
    while not over.wait(1.0):
        now = memory_mb(process)
        if now is not None:
            tally.memory.append(now)
