"""`python -m training bundle`: the checkpoints and records that come with the project."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from training.commands.options import optional


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Copy finished runs, one per model, and records to the folder that the demo and `tipshare.load` read.

    Weights over 5 MB are stored as bfloat16; more than 45 MB in all are refused.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[RUN ...]")] = ()
    """Folders of finished runs."""
    records: Annotated[Path | None, optional("PATH")] = None
    """Records to add: a JSON lines file, or a folder of them. A record of the same run is replaced."""
    trials: Annotated[tuple[Path, ...], optional("RUN ...", "none")] = ()
    """Folders of runs with a change that was not kept, one run per seed; what they measured goes to
    FOLDER/benchmarks/trials.jsonl."""
    about: str = ""
    """The change of these trials in a sentence."""
    folder: Path = Path("checkpoints")
    """Folder to copy to."""

    def run(self) -> int:
        from training.publish.bundle import plan_bundle, write_bundle
        from training.publish.hub import find_checkpoint
        from training.results.records import append_record, read_records
        from training.results.trials import FILE_NAME, add_trials, read_run

        if not self.runs and self.records is None and not self.trials:
            raise ValueError("nothing to bundle: name the folders of finished runs, or a file of --records")
        if bool(self.trials) != bool(self.about):
            raise ValueError("--trials and --about belong together: runs, and what they changed in a sentence")
        planned = plan_bundle([find_checkpoint(run) for run in self.runs])
        added = read_records(self.records) if self.records else []
        trials = [read_run(run, self.about) for run in self.trials]
        write_bundle(planned, self.folder)
        for record in added:
            append_record(record, self.folder / "runs.jsonl")
        if trials:
            path = self.folder / "benchmarks" / FILE_NAME
            add_trials(trials, path)
            print(f"{path}: {len(trials)} trials added or replaced")
        for name, each in planned.items():
            print(f"{self.folder / name}: {each.size / 1e6:.1f} MB, {each.dtype}")
        if added:
            print(f"{self.folder / 'runs.jsonl'}: {len(added)} records added or replaced")
        return 0
