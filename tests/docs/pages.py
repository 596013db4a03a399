"""What README and docs show: their pages, and the blocks of code in them."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Outside of the site: what is shown on the project's front page, and to those who change the project.
OUTSIDE = ("README.md", "CONTRIBUTING.md", "app/about/use.md")
TUTORIALS = "docs/tutorials"

_FENCE = re.compile(r"^```(?P<language>\w+)(?P<mark>[^\n]*)\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:python -m (?:tipshare|training|tests\.load)|tipshare|make|pip) [^`]+)`")


class Block(NamedTuple):
    """A block of code: ```LANGUAGE MARK."""

    language: str
    mark: str
    code: str

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block, without their comments."""
        lines = (line.split("  #")[0].strip() for line in self.code.splitlines())
        return [line for line in lines if line and not line.startswith("#")]


def pages() -> list[str]:
    """Every page with code in it, seen from the project's folder."""
    return [*OUTSIDE, *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]


def tutorials() -> list[str]:
    return [page for page in pages() if page.startswith(TUTORIALS) and not page.endswith("index.md")]


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str | None = None) -> list[Block]:
    """The blocks of code of a page, in order."""
    found = [Block(*(part.strip(" ") for part in match.groups())) for match in _FENCE.finditer(read(page))]
    return [block for block in found if language in (None, block.language)]


def mentions(page: str) -> list[str]:
    """Commands that a sentence names, outside of blocks."""
    return [found.replace("\n", " ") for found in _INLINE.findall(_FENCE.sub("", read(page)))]


def mentioned_flags(page: str) -> list[str]:
    """Flags that a sentence names without their command, such as `--set num_steps=50`."""
    return re.findall(r"`(--[a-z-]+)[^`]*`", _FENCE.sub("", read(page)))


def verb_and_flags(command: str) -> tuple[list[str], str | None, list[str]]:
    """A command's program, its verb if it has one, and the flags it shows."""
    words = shlex.split(command)
    size = 3 if words[0] == "python" else 1
    program, rest = words[:size], words[size:]
    verb = rest[0] if rest and not rest[0].startswith("-") else None
    return program, verb, [word.split("=")[0] for word in rest if word.startswith("--")]
