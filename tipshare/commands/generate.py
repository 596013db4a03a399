"""`tipshare generate`: continue a prompt, shown as it is written."""

import json
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import tyro

from tipshare.commands.options import (
    DEFAULT_CHECKPOINT,
    STANDARD_INPUT,
    AsJson,
    CheckpointName,
    DepthSteps,
    read_argument,
)
from tipshare.generation.sampling import Sampling
from tipshare.model.depth import SolverName

if TYPE_CHECKING:
    from tipshare.model.language_model import LanguageModel


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(Sampling):
    """`Sampling` as flags."""

    stop: Annotated[tuple[str, ...], tyro.conf.arg(metavar="TEXT ...")] = ()
    """Texts that end the writing; the one that is met is left out."""


@dataclass(frozen=True, kw_only=True)
class Generate:
    """Continue a prompt. The text goes to standard output as it is written, notes and speed to standard error."""

    prompt: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PROMPT")] = STANDARD_INPUT
    """The text to continue; - reads it from standard input."""
    checkpoint: CheckpointName = DEFAULT_CHECKPOINT
    """A folder, a bundled name, or a Hub id such as organisation/name."""
    steps: DepthSteps = None
    """Depth steps, for kinds whose weights are defined at every depth; the trained number if left out."""
    solver: SolverName = "euler"
    """How a depth step is taken, for models with step=euler; the others evaluate a block two or four times."""
    json: AsJson = False
    """Print one JSON object with the text and the probability, rank and alternatives of every byte."""
    sampling: Annotated[SamplingOptions, tyro.conf.arg(name="")] = field(default_factory=SamplingOptions)

    def run(self) -> int:
        from tipshare.checkpoint import load
        from tipshare.compilation import use_compilation_cache

        prompt = read_argument(self.prompt)
        use_compilation_cache()
        model = load(self.checkpoint, dtype="float32")
        self.write(model, prompt)
        return 0

    def write(self, model: "LanguageModel", prompt: bytes) -> None:
        """Print the continuation of a prompt, and on standard error warnings and speed."""
        from tipshare.generation.streaming import stream

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pieces = stream(model, prompt, self.sampling, steps=self.steps, solver=self.solver)
        for each in caught:
            print(f"note: {each.message}", file=sys.stderr)
        began, first, kept = time.perf_counter(), None, []
        for piece in pieces:
            first = first or time.perf_counter() - began
            kept.append(piece)
            if not self.json:
                sys.stdout.write(piece.text)
                sys.stdout.flush()
        if self.json:
            bytes_written = [info._asdict() for piece in kept for info in piece.trace]
            text = "".join(piece.text for piece in kept)
            json.dump({"text": text, "finish": kept[-1].finish, "bytes": bytes_written}, sys.stdout)
        sys.stdout.write("\n")
        count, seconds = sum(len(piece.trace) for piece in kept), time.perf_counter() - began
        cost = f"{model.block_evaluations(self.steps, solver=self.solver)} block evaluations per byte"
        print(f"{count} bytes, first after {first or 0:.2f} s, {count / seconds:.0f} bytes/s, {cost}", file=sys.stderr)
