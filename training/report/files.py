"""Files that a reader never sees half written."""

import os
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, then rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def write_text(path: Path, text: str) -> None:
    """The same for a text, in UTF-8."""
    write_bytes(path, text.encode())
