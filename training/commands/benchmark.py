"""`python -m training benchmark`: speed of training and generation, on request compared with torch."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from tipshare.files import write_text
from training.commands.options import optional


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Measure speed. All programs take turns within each round, so that a busy machine slows them alike."""

    what: Annotated[Literal["training", "generation", "steps"], tyro.conf.Positional] = "training"
    """Training steps of the published protocol, text generation, or training steps of the tuned protocol at two batch
    sizes."""
    torch_python: Annotated[str | None, optional("PATH", "no comparison with torch")] = None
    """A Python with torch and transformers (pip install 'tipshare[bench]' in an environment of its own)."""
    rounds: int = 7
    """Measured rounds; results are medians over them."""
    threads: int = os.cpu_count() or 1
    """Threads of torch; tipshare uses all cores."""
    out: Annotated[Path | None, optional("FILE")] = None
    """Also write the results to this JSON file."""

    def run(self) -> int:
        if self.rounds < 1:
            raise ValueError(f"rounds={self.rounds} must be 1 or more")
        if self.torch_python is not None and not Path(self.torch_python).is_file():
            raise ValueError(f"{self.torch_python} is not a file: give the path of a Python that has torch")
        if self.out is not None and not self.out.parent.is_dir():
            raise ValueError(f"--out {self.out}: there is no folder {self.out.parent}; make it first")
        text = json.dumps(self._measure(), indent=2)
        print(text)
        if self.out is not None:
            write_text(self.out, text + "\n")
        return 0

    def _measure(self) -> dict[str, Any]:
        if self.what == "steps":
            if self.torch_python is not None:
                raise ValueError(
                    "benchmark steps compares models of the tuned protocol alone: leave out --torch-python"
                )
            from training.benchmarks.training import measure_tuned

            return measure_tuned(rounds=self.rounds)
        if self.what == "training":
            from training.benchmarks.training import measure
        else:
            from training.benchmarks.generation import measure
        return measure(self.torch_python, rounds=self.rounds, threads=self.threads)
