"""What the library does, from a terminal: `tipshare <verb>`, or `python -m tipshare <verb>`."""

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and run the verb; wrong input is one line on standard error and exit code 2."""
    import tyro

    from tipshare.commands.download import Download
    from tipshare.commands.generate import Generate
    from tipshare.commands.info import Info
    from tipshare.commands.inspect import Inspect
    from tipshare.commands.score import Score

    verbs = {"generate": Generate, "score": Score, "info": Info, "inspect": Inspect, "download": Download}
    description = "Time-indexed parameter sharing: transformers whose depth is a continuous time."
    try:
        return tyro.extras.subcommand_cli_from_dict(
            verbs, prog="tipshare", description=description, args=arguments
        ).run()
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has seen enough; nothing more must be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
