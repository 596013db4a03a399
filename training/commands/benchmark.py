"""`python -m training benchmark`: speed of training and generation, against torch where a Python with it is given."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from training.engine.state import write_text


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Measure speed; all parties take turns in one run, so that a busy machine slows all alike."""

    what: Annotated[Literal["training", "generation"], tyro.conf.Positional] = "training"
    """Training steps, or writing text."""
    torch_python: str | None = None
    """A Python with torch and transformers (pip install 'tipshare[bench]' in an environment of its own)."""
    rounds: int = 7
    """Turns of every party; results are medians."""
    threads: int = os.cpu_count() or 1
    """Threads of torch; ours take all cores."""
    out: Path | None = None
    """Also write the numbers to this JSON file."""

    def run(self) -> int:
        if self.rounds < 1:
            raise ValueError(f"rounds={self.rounds} must be 1 or more")
        if self.torch_python is not None and not Path(self.torch_python).is_file():
            raise ValueError(f"{self.torch_python} is no Python: give the path of one that has torch")
        if self.out is not None and not self.out.parent.is_dir():
            raise ValueError(f"--out {self.out}: there is no folder {self.out.parent}; make it first")
        if self.what == "training":
            from training.benchmarks.training import measure
        else:
            from training.benchmarks.generation import measure
        text = json.dumps(measure(self.torch_python, rounds=self.rounds, threads=self.threads), indent=2)
        print(text)
        if self.out is not None:
            write_text(self.out, text + "\n")
        return 0
