"""`python -m tests.hostile`, or `make fuzz MINUTES=10`: many thousands of hostile cases, and a record of them."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.compiling import compile_quickly
from tests.hostile.fuzz import ROUND, CaseError, Count, fuzz
from tests.hostile.interrupted import interrupt
from tests.hostile.loading import measure_loading
from tests.hostile.report import add_counts, add_endings, read_report, write_report


def main() -> int:
    """Parse the command line, run the cases, add them to the record."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="(default %(default)s)")
    parser.add_argument("--only", nargs="+", choices=ROUND, default=list(ROUND), metavar="SORT", help=", ".join(ROUND))
    parser.add_argument("--seed", type=int, help="of the cases; another one every time if left out")
    parser.add_argument("--record", type=Path, help="JSON file that gathers the counts of all calls")
    parser.add_argument("--loading", action="store_true", help="measure instead what verification of weights costs")
    parser.add_argument("--endings", type=int, help="end so many runs and pushes instead, at random moments")
    options = parser.parse_args()
    seed = time.time_ns() % 2**31 if options.seed is None else options.seed
    if options.loading:
        parts = {"loading": measure_loading()}
    elif options.endings is not None:
        compile_quickly()
        with tempfile.TemporaryDirectory() as folder:
            ended = interrupt(Path(folder), seed=seed, endings=options.endings)
        parts = {"endings": add_endings(read_report(options.record), ended)}
    else:
        with tempfile.TemporaryDirectory() as folder:
            try:
                ends = time.monotonic() + 60 * options.minutes
                counts = fuzz(Path(folder), seed=seed, ends=ends, sorts=options.only, say=show)
            except CaseError as error:
                print(f"error: {error}", file=sys.stderr)
                raise
        show(counts)
        parts = {"fuzz": add_counts(read_report(options.record), counts)}
    if options.record is not None:
        write_report(options.record, parts)
    return 0


def show(counts: dict[str, Count]) -> None:
    """One line with the counts so far."""
    parts = [f"{sort} {each.cases:,} ({each.refused:,} refused)" for sort, each in counts.items()]
    most = max(each.most_memory for each in counts.values())
    print(f"{', '.join(parts)}; at most {most / 1e6:.0f} MB for one case", flush=True)


if __name__ == "__main__":
    sys.exit(main())
