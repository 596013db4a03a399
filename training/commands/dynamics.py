"""`python -m training dynamics`: what checkpoints do inside, as a report and as a page of the documentation."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tipshare.files import write_text

# 63 bytes and the begin token: 64 positions.
TEXT = "The tower is 324 metres tall, about the same height as an 81-st"


@dataclass(frozen=True, kw_only=True)
class Dynamics:
    """Compute spectra, Lyapunov exponents, lenses and updates of the bundled checkpoints, and rewrite their page."""

    models: tuple[str, ...] = ()
    """Checkpoints to look at; all bundled ones if left out."""
    benchmarks: Path = Path("checkpoints/benchmarks")
    """Folder for the report, dynamics.json."""
    root: Path = Path()
    """The checkout whose docs/results/dynamics.md is rewritten."""

    def run(self) -> int:
        from training.report.readme import DYNAMICS_PAGE, update_documents

        if not (self.root / DYNAMICS_PAGE).is_file():
            raise ValueError(f"there is no {self.root / DYNAMICS_PAGE}: give a checkout, with --root FOLDER")
        report = measure_dynamics(self.models)
        path = self.benchmarks / "dynamics.json"
        write_text(path, json.dumps(report, indent=1, allow_nan=False) + "\n")
        update_documents(self.root, (), self.benchmarks, [DYNAMICS_PAGE])
        print(f"{path} and {self.root / DYNAMICS_PAGE}")
        return 0


def measure_dynamics(names: Sequence[str]) -> dict[str, Any]:
    """The report: text, and for every checkpoint its main numbers and the sha256 of its weights.

    Args:
        names: Checkpoints; the bundled ones if empty.
    """
    from tipshare.analysis import inspect_text, main_numbers
    from tipshare.checkpoint import list_bundled, open_checkpoint
    from tipshare.checkpoint.layout import is_weights_file
    from tipshare.kinds import rank_of

    checkpoints = {name: open_checkpoint(name) for name in names or list_bundled()}
    models = {}
    for name, checkpoint in sorted(checkpoints.items(), key=lambda each: rank_of(each[1].config.kind)):
        print(f"{name} ...")
        weights = {file: each.sha256 for file, each in sorted(checkpoint.sums.items()) if is_weights_file(file)}
        models[name] = {"weights": weights, **main_numbers(inspect_text(checkpoint.load("float32"), TEXT))}
    return {"text": TEXT, "models": models}
