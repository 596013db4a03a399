"""Keep access tokens and paths of the home folder out of files that are published."""

import re
from pathlib import Path

ACCESS_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{16,}")


def check_private(text: str, name: str) -> None:
    """Raise ValueError if a text that is to be published holds an access token or the path of the home folder."""
    if ACCESS_TOKEN.search(text):
        raise ValueError(f"{name} holds what looks like an access token: remove it before saving or pushing")
    home = str(Path.home())
    if len(home) > 1 and re.search(re.escape(home) + r"(?![A-Za-z0-9_.-])", text):
        raise ValueError(f"{name} holds the path of your home folder: use relative paths")
