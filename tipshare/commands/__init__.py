"""The verbs of `python -m tipshare`: one module each, with `add_command(commands)` and `run(args)`."""

from tipshare.commands import download, generate, info

VERBS = (generate, info, download)
