"""`python -m tipshare <verb>`: what the library does, from a terminal."""

import argparse
import sys
from collections.abc import Sequence

from tipshare.commands import VERBS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; bad input is one line on standard error and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m tipshare", description="Time-indexed parameter sharing")
    commands = parser.add_subparsers(metavar="verb", required=True)
    for verb in VERBS:
        verb.add_command(commands)
    args = parser.parse_args(arguments)
    try:
        return args.run(args)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
