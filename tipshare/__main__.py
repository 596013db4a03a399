"""`python -m tipshare <verb>`: look at checkpoints and fetch them."""

import argparse
import sys

from tipshare.commands import download, info

VERBS = (info, download)


def main(arguments: list[str] | None = None) -> int:
    """Parse the arguments and run the verb; wrong input is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m tipshare", description=__doc__)
    verbs = parser.add_subparsers(title="verbs", required=True)
    for verb in VERBS:
        verb.add_command(verbs)
    args = parser.parse_args(arguments)
    try:
        return args.run(args)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
