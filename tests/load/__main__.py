"""`python -m tests.load http://127.0.0.1:7860`: a crowd of visitors on a running page, some of whom misbehave.

Every visitor makes visits until the time is over. The report has failures and latencies for each kind of visitor, and
the server's memory over time, and when it came to rest, if its process is given. The exit code is 1 after a failure, if
memory kept growing, or if something went on running after all had left.
"""

import argparse
import sys
from pathlib import Path

from tests.load.crowd import KINDS, run_crowd
from tests.load.tally import print_report, write_record


def read_mix(text: str) -> dict[str, int]:
    """Numbers of visitors by kind, from the command line."""
    mix = {}
    for part in text.split(","):
        kind, _, count = part.partition("=")
        if kind not in KINDS or not count.isdecimal():
            raise argparse.ArgumentTypeError(f"{part!r} must be KIND=NUMBER; the kinds are {', '.join(KINDS)}")
        mix[kind] = int(count)
    return mix


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, run the crowd, print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("address", nargs="?", default="http://127.0.0.1:7860", help="(default %(default)s)")
    parser.add_argument("--clients", type=int, default=28, help="visitors who mean well (default %(default)s)")
    parser.add_argument(
        "--mix", type=read_mix, help="visitors by kind, instead of --clients of all kinds: writes=24,browses=4,trains=4"
    )
    parser.add_argument("--hostile", type=int, default=4, help="visitors who do not (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=60.0, help="(default %(default)s)")
    parser.add_argument("--length", type=int, default=100, help="bytes per text (default %(default)s)")
    parser.add_argument("--pid", type=int, help="process of the server, to read its memory")
    parser.add_argument("--record", type=Path, help="JSON file to add the report to")
    options = parser.parse_args(arguments)
    clients = sum(options.mix.values()) if options.mix else options.clients
    tally = run_crowd(
        options.address,
        clients=options.mix or clients,
        hostile=options.hostile,
        seconds=options.seconds,
        length=options.length,
        process=options.pid,
    )
    print_report(tally)
    if options.record is not None:
        write_record(tally, options.record, clients=clients, hostile=options.hostile, seconds=options.seconds)
    return 1 if tally.failures or tally.memory_grows or tally.is_restless else 0


if __name__ == "__main__":
    sys.exit(main())
