"""`python -m app.load http://127.0.0.1:7860`: a crowd of visitors on a running page, some of whom misbehave.

Every visitor makes visits until the time is over. The report has failures and latencies for each kind of visitor, and
the server's memory over time if its process is given. The exit code is 1 after a failure, or if memory kept growing.
"""

import argparse
import sys
from pathlib import Path

from app.load.crowd import run_crowd
from app.load.tally import print_report, write_record


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, run the crowd, print the report."""
    parser = argparse.ArgumentParser(prog="python -m app.load", description=__doc__)
    parser.add_argument("address", nargs="?", default="http://127.0.0.1:7860", help="(default %(default)s)")
    parser.add_argument("--clients", type=int, default=28, help="visitors who mean well (default %(default)s)")
    parser.add_argument("--hostile", type=int, default=4, help="visitors who do not (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=60.0, help="(default %(default)s)")
    parser.add_argument("--length", type=int, default=100, help="bytes per text (default %(default)s)")
    parser.add_argument("--pid", type=int, help="process of the server, to read its memory")
    parser.add_argument("--record", type=Path, help="JSON file to add the report to")
    options = parser.parse_args(arguments)
    tally = run_crowd(
        options.address,
        clients=options.clients,
        hostile=options.hostile,
        seconds=options.seconds,
        length=options.length,
        process=options.pid,
    )
    print_report(tally)
    if options.record is not None:
        write_record(tally, options.record, clients=options.clients, hostile=options.hostile, seconds=options.seconds)
    return 1 if tally.failures or tally.memory_grows else 0


if __name__ == "__main__":
    sys.exit(main())
