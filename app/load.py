"""`python -m app.load http://127.0.0.1:7860`: a load test of a running demo with many clients at once.

Every client sends requests until the time is over. The report has failures, latencies of requests and of the page
itself, and the server's memory before and after if its process is given.
"""

import argparse
import statistics
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Tally:
    """The clients' results; shared between threads."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    page_seconds: list[float] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, seconds: float, failure: str | None = None) -> None:
        with self.guard:
            self.seconds.append(seconds)
            if failure is not None:
                self.failures.append(failure)


def main() -> int:
    """Parse the command line, run the clients, print the report."""
    parser = argparse.ArgumentParser(prog="python -m app.load", description=__doc__)
    parser.add_argument("address", nargs="?", default="http://127.0.0.1:7860", help="(default %(default)s)")
    parser.add_argument("--clients", type=int, default=32, help="(default %(default)s)")
    parser.add_argument("--seconds", type=float, default=60.0, help="(default %(default)s)")
    parser.add_argument("--length", type=int, default=100, help="bytes per text (default %(default)s)")
    parser.add_argument("--pid", type=int, help="process of the server, to read its memory")
    options = parser.parse_args()
    before = memory_mb(options.pid)
    tally = run_clients(options.address, options.clients, options.seconds, options.length)
    report(tally, options.clients, before, memory_mb(options.pid))
    return 1 if tally.failures else 0


def run_clients(address: str, clients: int, seconds: float, length: int) -> Tally:
    """Run clients in parallel until the time is over; each completes its last request."""
    tally, ends = Tally(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=_run_client, args=(address, number, ends, length, tally)) for number in range(clients)
    ]
    threads.append(threading.Thread(target=_watch_page, args=(address, ends, tally)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def _run_client(address: str, number: int, ends: float, length: int, tally: Tally) -> None:
    from gradio_client import Client
    from gradio_client.exceptions import AppError
    from httpx import HTTPError

    client = None
    while client is None or time.monotonic() < ends:
        began = time.monotonic()
        try:
            client = client or Client(address, verbose=False, analytics_enabled=False)
            models = [each["name"] for each in client.predict(api_name="/models")]
            texts = client.predict("The history of", models[:4], length=length, seed=number, api_name="/write")["texts"]
            short = [text["model"] for text in texts if len(text["bytes"]) != length]
            tally.add(time.monotonic() - began, f"text of {short[0]} is short" if short else None)
        except (AppError, HTTPError, OSError, ValueError) as error:
            tally.add(time.monotonic() - began, f"{type(error).__name__}: {error}")
            if client is None:
                return


def _watch_page(address: str, ends: float, tally: Tally) -> None:
    """Ask for the page itself every second, as a new visitor would; at least once."""
    while True:
        began = time.monotonic()
        try:
            urllib.request.urlopen(address, timeout=120).read()
            tally.page_seconds.append(time.monotonic() - began)
        except OSError as error:
            tally.add(time.monotonic() - began, f"the page: {error}")
        if time.monotonic() + 1 > ends:
            return
        time.sleep(1)


def memory_mb(process: int | None) -> float | None:
    """Resident memory of a process in megabytes; None if it is not known."""
    status = Path(f"/proc/{process}/status")
    if process is None or not status.exists():
        return None
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def report(tally: Tally, clients: int, before: float | None, after: float | None) -> None:
    """Print the results."""
    print(f"{clients} clients, {len(tally.seconds)} requests, {len(tally.failures)} failures")
    for failure, count in {each: tally.failures.count(each) for each in tally.failures}.items():
        print(f"  {count} x {failure}")
    for name, seconds in (("latency", tally.seconds), ("the page itself", tally.page_seconds)):
        if seconds:
            print(f"{name}: median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s")
    if before is not None and after is not None:
        print(f"memory of the server: {before:.0f} MB before, {after:.0f} MB after")


if __name__ == "__main__":
    sys.exit(main())
