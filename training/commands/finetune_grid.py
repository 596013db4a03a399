"""`python -m training finetune-grid`: all runs behind the page on fine-tuning that are not finished."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from tipshare.checkpoint.locate import bundle_folder
from training.commands.children import Child, carry_out_all
from training.commands.options import optional
from training.finetune.recipe import FINETUNE


@dataclass(frozen=True, kw_only=True)
class FinetuneGrid:
    """Fine-tune the bundled checkpoints and ones of another text, by every method, at several depths.

    Every run is a process of its own; the same command continues where it was stopped. Records go to OUT/runs.jsonl.
    """

    out: Path = Path("runs/finetune")
    """Folder for runs."""
    wikitext: Annotated[Path | None, optional("PATH", "downloaded")] = None
    """Folder of WikiText-2 with train.txt, valid.txt and test.txt."""
    shakespeare: Annotated[Path | None, optional("PATH", "downloaded")] = None
    """Folder or file of tiny Shakespeare."""
    seeds: Annotated[tuple[int, ...], optional("INT ...", " ".join(map(str, FINETUNE.seeds)))] = FINETUNE.seeds
    """Seeds of the runs at another depth on the same text; the others take the first."""
    first: Annotated[int | None, optional("N", "all")] = None
    """Start at most this many of the runs; the most informative ones come first."""
    plan: bool = False
    """Only list the runs, and what their training steps take together."""

    def run(self) -> int:
        from training.finetune.grid import Grid

        if not self.seeds:
            raise ValueError("--seeds needs at least one seed")
        grid = Grid(out=self.out, wikitext=self.wikitext, shakespeare=self.shakespeare)
        jobs = list(grid.jobs(self.seeds))[: self.first]
        if self.plan:
            for job in jobs:
                print(job.name)
            print(f"{len(jobs)} runs, {self._cost(jobs)}")
            return 0
        child = Child()
        return carry_out_all([(job.name, partial(child.run, job.arguments)) for job in jobs])

    def _cost(self, jobs: list) -> str:
        """What the training steps take, as records tell; starting and compiling come on top."""
        from tipshare.presets import preset
        from training.commands.forecast import forecast
        from training.engine.progress import format_seconds
        from training.results.records import known_records

        records = known_records(bundle_folder() / "runs.jsonl")
        seconds: dict[tuple, float | None] = {}
        for job in jobs:
            key = (job.kind, job.depth_steps, job.recipe.num_steps)
            if key not in seconds:
                config = preset(job.kind).replace(depth_steps=job.depth_steps)
                seconds[key] = forecast(job.recipe, job.kind, config, records).seconds
        found = [seconds[job.kind, job.depth_steps, job.recipe.num_steps] for job in jobs]
        if None in found:
            return "of unknown time"
        return f"{format_seconds(sum(each or 0.0 for each in found))} of training steps"
