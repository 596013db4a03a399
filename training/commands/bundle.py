"""`python -m training bundle`: the checkpoints and records that come with the project."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from training.commands.options import optional


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Copy finished runs, one per kind, and records to the folder that the demo and `tipshare.load` read.

    Weights over 5 MB are stored as bfloat16; more than 45 MB in all are refused.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[RUN ...]")] = ()
    """Folders of finished runs."""
    records: Annotated[Path | None, optional("PATH")] = None
    """Records to add: a JSON lines file, or a folder of them. A record of the same run is replaced."""
    folder: Path = Path("checkpoints")
    """Folder to copy to."""

    def run(self) -> int:
        from training.publish.bundle import plan_bundle, write_bundle
        from training.publish.hub import find_checkpoint
        from training.results.records import append_record, read_records

        if not self.runs and self.records is None:
            raise ValueError("nothing to bundle: name the folders of finished runs, or a file of --records")
        planned = plan_bundle([find_checkpoint(run) for run in self.runs])
        added = read_records(self.records) if self.records else []
        write_bundle(planned, self.folder)
        for record in added:
            append_record(record, self.folder / "runs.jsonl")
        for kind, each in planned.items():
            print(f"{self.folder / kind}: {each.size / 1e6:.1f} MB, {each.dtype}")
        if added:
            print(f"{self.folder / 'runs.jsonl'}: {len(added)} records added or replaced")
        return 0
