"""`tipshare score`: how well a checkpoint predicts a text."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tipshare.commands.options import (
    DEFAULT_CHECKPOINT,
    STANDARD_INPUT,
    AsJson,
    CheckpointName,
    DepthSteps,
    read_argument,
)
from tipshare.model.depth import SolverName


@dataclass(frozen=True, kw_only=True)
class Score:
    """Print the bits per byte that a checkpoint needs for a text; fewer bits mean a better prediction."""

    text: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TEXT")] = STANDARD_INPUT
    """The text to score; - reads it from standard input."""
    file: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Score the content of this file instead."""
    checkpoint: CheckpointName = DEFAULT_CHECKPOINT
    """A folder, a bundled name, or a Hub id such as organisation/name."""
    steps: DepthSteps = None
    """Depth steps, for kinds whose weights are defined at every depth; the trained number if left out."""
    solver: SolverName = "euler"
    """How a depth step is taken, for models with step=euler; the others evaluate a block two or four times."""
    stride: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Bytes from one window to the next: half the context if left out; the whole, as in model cards, is faster."""
    json: AsJson = False
    """Print one JSON object."""

    def run(self) -> int:
        from tipshare.checkpoint import load
        from tipshare.compilation import use_compilation_cache

        if self.file is not None and self.text != STANDARD_INPUT:
            raise ValueError(f"score takes a text or --file {self.file}, not both")
        text = self.file.read_bytes() if self.file is not None else read_argument(self.text)
        use_compilation_cache()
        model = load(self.checkpoint, dtype="float32")
        score = model.score(text, stride=self.stride, steps=self.steps, solver=self.solver)
        evaluations = model.block_evaluations(self.steps, solver=self.solver)
        if self.json:
            numbers = {"bits_per_byte": score.bits_per_byte, "loss": score.loss, "perplexity": score.perplexity}
            print(json.dumps({"bytes": len(text), **numbers, "block_evaluations": evaluations}))
        else:
            print(
                f"{score.bits_per_byte:.4f} bits per byte ({score.loss:.4f} nats, perplexity {score.perplexity:.4f}) "
                f"over {len(text):,} bytes, {evaluations} block evaluations each"
            )
        return 0
