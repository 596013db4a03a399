"""`python -m training report`: tables and figures from records."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from training.commands.options import optional
from training.results.records import read_records


@dataclass(frozen=True, kw_only=True)
class Report:
    """Write tables and figures from the records of many runs."""

    runs: Annotated[Path, tyro.conf.Positional] = Path("runs")
    """A JSON lines file of records, or a folder of them."""
    out: Path = Path("runs/report")
    """Folder for tables and figures."""
    readme: Annotated[Path | None, optional("FILE")] = None
    """Also update the results in this README and in the folder `docs` beside it, with its figures."""
    benchmarks: Annotated[Path | None, optional("FOLDER")] = None
    """Folder with training*.json, generation*.json and steps*.json from `benchmark --out`, and depth-*.json from `depth
    --out`, whose tables and figures `docs` shows too."""

    def run(self) -> int:
        if not self.runs.exists():
            raise ValueError(f"{self.runs} does not exist; train something first, or give another folder")
        records = read_records(self.runs)
        if not records:
            raise ValueError(f"{self.runs} holds no records; a run adds its record when it finishes")
        from training.report.folder import write_report

        report = write_report(records, self.out)
        if self.readme is not None:
            from training.report.readme import update_documents
            from training.report.readme_figures import write_readme_figures

            update_documents(self.readme.parent, records, self.benchmarks)
            write_readme_figures(records, self.readme.parent / "docs", self.benchmarks)
        for note in report.notes:
            print(note)
        print(f"report on {len(records)} runs: {self.out / 'report.md'}")
        return 0
