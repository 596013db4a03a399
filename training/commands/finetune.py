"""`python -m training finetune`: a trained checkpoint on another text, or at another depth."""

import shlex
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import tyro

from tipshare.model.low_rank import AlongDepth
from training.commands.children import Child, carry_out_all
from training.commands.options import Changes, DataDir, DeviceOptions, optional, run_folder
from training.commands.train import carry_out
from training.engine.run import Run
from training.finetune.methods import Method
from training.finetune.recipe import FINETUNE

SCORES = ("valid_loss_of_base", "valid_loss_before", "valid_loss", "first_text_loss_before", "first_text_loss")


@dataclass(frozen=True, kw_only=True)
class Finetune:
    """Go on training a checkpoint; the same command continues a run that was interrupted.

    Writes to OUT/finetune-A-to-B/MODEL/seed-N, as `train` does, and adds the record to OUT/runs.jsonl. With the method
    lora the folder is an adapter folder, which needs the checkpoint; otherwise it is a checkpoint of its own.
    """

    checkpoint: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CHECKPOINT")]
    """Folder of a run or checkpoint, name of a bundled one, or Hub id."""
    method: Method = "lora"
    """What is trained: everything; gates and networks of t; norms; or adapters."""
    depth_steps: Annotated[int | None, optional("N", "the checkpoint's")] = None
    """Number of depth steps, for weights that are defined at every depth."""
    freeze_to_layers: bool = False
    """Give every depth step weights of its own first: one block grows into that many layers."""
    rank: Annotated[int | None, optional("R", "8")] = None
    """Rank of adapters."""
    alpha: Annotated[float | None, optional("A", "twice the rank")] = None
    """What adapters add is multiplied by A / R."""
    targets: Annotated[tuple[str, ...], optional("NAME ...", "attention mixer")] = ()
    """Dense layers that get adapters: names such as attention or mixer.down, or patterns such as *.output."""
    along_depth: Annotated[AlongDepth | None, optional("HOW", "shared")] = None
    """Adapters that all depths share, one per depth step, or one that is scaled by t."""
    corpus: Annotated[str | None, optional("NAME", "text")] = None
    """Name of a corpus, or a label for the text in --data-dir."""
    data_dir: Annotated[Path | None, optional("PATH", "the corpus by its name")] = None
    """Text to train on: a folder with train.txt, valid.txt and test.txt, or a single text file."""
    first_text: DataDir = None
    """The text that the checkpoint was trained on, to see how much of it is forgotten; as --data-dir."""
    seeds: Annotated[tuple[int, ...], optional("INT ...", str(FINETUNE.seeds[0]))] = FINETUNE.seeds[:1]
    """Seeds of the windows, dropout and new adapters; several runs are trained one after the other."""
    changes: Changes = ()
    """Fields of the recipe to change, such as num_steps=50 or learning_rate=0.001."""
    out: Path = Path("runs")
    """Folder for runs."""
    track: bool = False
    """Show the run live in trackio, which the track extra installs."""
    device_options: Annotated[DeviceOptions, tyro.conf.arg(name="")] = field(default_factory=DeviceOptions)

    def run(self) -> int:
        if len(self.seeds) == 1:
            return carry_out(
                lambda: self._describe_run(self.seeds[0]), self.device_options, track=self.track, scores=SCORES
            )
        if not self.seeds or self.device_options != DeviceOptions():
            raise ValueError("several seeds are trained on one device each, and there must be at least one")
        child, jobs = Child(), []
        for seed in self.seeds:
            words = [*self._words(self.checkpoint, seed, self.data_dir, self.first_text), "--out", str(self.out)]
            jobs.append((f"seed {seed}", partial(child.run, words + ["--track"] * self.track)))
        return carry_out_all(jobs)

    def _describe_run(self, seed: int) -> Run:
        """The run that these arguments describe; loads the checkpoint and the texts."""
        from tipshare.checkpoint import open_checkpoint
        from training.data.corpus import CORPORA, load_corpus
        from training.finetune.choices import Choices, corpus_of
        from training.finetune.recipe import finetune_recipe

        if self.data_dir is None and self.corpus is None:
            raise ValueError(f"there is no text: give a --data-dir, or one of {', '.join(CORPORA)} as --corpus")
        choices = Choices(
            method=self.method,
            depth_steps=self.depth_steps,
            to_layers=self.freeze_to_layers,
            rank=self.rank,
            alpha=self.alpha,
            targets=self.targets,
            along_depth=self.along_depth,
        )
        checkpoint = open_checkpoint(self.checkpoint)
        before, context = corpus_of(checkpoint), checkpoint.config.max_position_embeddings
        recipe = finetune_recipe(self.method, before, self.corpus or "text", context, self.changes)
        corpus = load_corpus(recipe.corpus, self.data_dir)
        first_text = None if self.first_text is None else load_corpus(before, self.first_text)
        start = choices.begin(self.checkpoint, seed, first_text)
        label = choices.label(start.model.config.kind, start.model.steps)
        name = self.checkpoint if self.checkpoint == start.facts["base"] else "CHECKPOINT"
        texts = [None if each is None else Path("DIR") for each in (self.data_dir, self.first_text)]
        return Run(
            recipe=recipe,
            model=label,
            config=start.model.config,
            seed=seed,
            corpus=corpus,
            folder=run_folder(self.out, recipe, label, seed),
            collection=self.out / "runs.jsonl",
            command=shlex.join(["python", "-m", "training", *self._words(name, seed, *texts)]),
            start=start,
        )

    def _words(self, checkpoint: str, seed: int, data_dir: Path | None, first_text: Path | None) -> list[str]:
        """The arguments of one run, apart from where it goes and where it is computed."""
        words = ["finetune", checkpoint, "--method", self.method, "--seeds", str(seed)]
        given = {
            "--depth-steps": self.depth_steps,
            "--rank": self.rank,
            "--alpha": self.alpha,
            "--along-depth": self.along_depth,
            "--corpus": self.corpus,
            "--data-dir": data_dir,
            "--first-text": first_text,
        }
        words += [str(word) for name, value in given.items() if value is not None for word in (name, value)]
        words += ["--freeze-to-layers"] if self.freeze_to_layers else []
        words += ["--targets", *self.targets] if self.targets else []
        return [*words, *(["--set", *self.changes] if self.changes else [])]
