"""Arguments that several verbs share."""

import sys
from typing import Annotated

import tyro

DEFAULT_CHECKPOINT = "time-indexed-ssm"
STANDARD_INPUT = "-"

CheckpointName = Annotated[str, tyro.conf.arg(metavar="CHECKPOINT")]
Revision = Annotated[str | None, tyro.conf.arg(metavar="REVISION")]
DepthSteps = Annotated[int | None, tyro.conf.arg(metavar="INT")]
AsJson = Annotated[bool, tyro.conf.FlagCreatePairsOff]


def read_argument(text: str) -> bytes:
    """The bytes of a text argument, or of standard input, which need not be UTF-8."""
    if text != STANDARD_INPUT:
        return text.encode("utf-8", "surrogateescape")
    if sys.stdin.isatty():
        raise ValueError("there is no text: give one in quotation marks, or pipe one into standard input")
    return sys.stdin.buffer.read()
