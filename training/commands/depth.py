"""`python -m training depth`: loss and speed of a checkpoint at many numbers of depth steps."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from tipshare.files import write_text
from tipshare.model.depth import SolverName
from tipshare.validation import check_whole
from training.commands.options import DataDir, optional


@dataclass(frozen=True, kw_only=True)
class Depth:
    """Measure loss, bytes per second and the time to the first byte against depth steps, and draw them."""

    checkpoint: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CHECKPOINT")]
    """Folder of a run or checkpoint, name of a bundled one, or Hub id."""
    corpus: str = "wikitext-2"
    """Name of a corpus, or a label for the text in --data-dir."""
    data_dir: DataDir = None
    """Text to score: a folder with train.txt, valid.txt and test.txt, or a single text file."""
    depth_steps: tuple[int, ...] = (2, 3, 4, 6, 8, 12, 18)
    """Numbers of depth steps."""
    solver: SolverName = "euler"
    """How a depth step is taken, for models with step=euler."""
    windows: int = 320
    """Fixed windows of valid that the loss is computed on, as many as a recipe has."""
    rounds: int = 5
    """Measured rounds of generation; results are medians over them."""
    out: Annotated[Path | None, optional("FOLDER")] = None
    """Folder for depth-CHECKPOINT.json and .csv, and the figures as PNG and PDF."""

    def run(self) -> int:
        import tipshare
        from tipshare.checkpoint import open_checkpoint
        from training.benchmarks.depth import measure_depths, measure_early_exit
        from training.data.corpus import load_corpus
        from training.engine.machine import code_commit, describe_machine
        from training.finetune.choices import name_of
        from training.report.tables import to_markdown
        from training.results.views.depth_reports import depths_table, early_exit_table, report_in_words

        depths = [check_whole("depth steps", each) for each in self.depth_steps]
        if not depths or len(set(depths)) < len(depths):
            raise ValueError(f"--depth-steps {' '.join(map(str, depths))}: give different whole numbers, at least one")
        count, rounds = check_whole("windows", self.windows), check_whole("rounds", self.rounds)
        model = tipshare.load(self.checkpoint, dtype="float32")
        checkpoint = open_checkpoint(self.checkpoint)
        record = checkpoint.record
        context, corpus = model.config.max_position_embeddings, load_corpus(self.corpus, self.data_dir)
        windows = corpus.evaluation_windows("valid", count, context)
        if not len(windows):
            raise ValueError(f"corpus {corpus.name}: valid holds no window of {context} + 1 bytes; use a longer text")
        name = name_of(checkpoint, self.checkpoint)
        rows = measure_depths(model, windows, depths, solver=self.solver, rounds=rounds, say=_say)
        report: dict[str, Any] = {
            "checkpoint": name,
            "kind": model.config.kind,
            "own_depth_steps": model.steps,
            "drawn_depth_steps": record.settings.get("depth_steps", []) if record else [],
            "solver": self.solver,
            "corpus": corpus.name,
            "data": corpus.describe()["valid"],
            "num_windows": len(windows),
            "context": context,
            "rounds": rounds,
            "commit": code_commit(),
            "machine": describe_machine(1),
            "depths": rows,
            "early_exit": measure_early_exit(model, windows, _say),
        }
        _say("")
        print(report_in_words(report), to_markdown(depths_table(report)), sep="\n\n")
        if report["early_exit"]:
            print("\nEarly exit, at best:", to_markdown(early_exit_table(report)), sep="\n\n")
        if self.out is not None:
            write_depth_report(report, self.out)
        return 0


def write_depth_report(report: dict[str, Any], folder: Path) -> None:
    """The report as JSON, its table as CSV, and its figures."""
    from training.recipes.recipe import slug
    from training.report.figures import write_figure
    from training.results.views.depth_reports import depths_table, measured_loss_view, speed_view

    stem = f"depth-{slug(report['checkpoint'])}"
    write_text(folder / f"{stem}.json", json.dumps(report, indent=2, allow_nan=False) + "\n")
    write_text(folder / f"{stem}.csv", depths_table(report).to_csv())
    for name, view in (("loss", measured_loss_view(report)), ("speed", speed_view([report]))):
        write_figure(view, folder / f"{stem}-{name}")


def _say(text: str) -> None:
    """The progress line, on a terminal one that is written over."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)
