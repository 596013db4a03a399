"""`python -m training dynamics`: what checkpoints do inside, as a report and as a page of the documentation."""

import json
from dataclasses import dataclass
from pathlib import Path

from tipshare.files import write_text


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
        from training.benchmarks.dynamics import measure_dynamics
        from training.report.readme import DYNAMICS_PAGE, update_page

        if not (self.root / DYNAMICS_PAGE).is_file():
            raise ValueError(f"there is no {self.root / DYNAMICS_PAGE}: give a checkout, with --root FOLDER")
        report = measure_dynamics(self.models, say=print)
        path = self.benchmarks / "dynamics.json"
        write_text(path, json.dumps(report, indent=1, allow_nan=False) + "\n")
        update_page(self.root, DYNAMICS_PAGE, self.benchmarks)
        print(f"{path} and {self.root / DYNAMICS_PAGE}")
        return 0
