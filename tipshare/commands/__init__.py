"""The verbs of `tipshare`, one file each: a dataclass of arguments with a `run` that gives the exit code."""
