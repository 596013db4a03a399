"""`python -m training lens`: train a tuned lens for a checkpoint."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from training.commands.options import DataDir, optional


@dataclass(frozen=True, kw_only=True)
class Lens:
    """Train a tuned lens: maps that read what a model would predict if it stopped at each depth. About a minute."""

    checkpoint: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CHECKPOINT")]
    """Folder of a run or checkpoint, name of a bundled one, or Hub id."""
    corpus: str = "wikitext-2"
    """Name of a corpus, or a label for the text in --data-dir."""
    data_dir: DataDir = None
    """Text to train on: a folder with train.txt, valid.txt and test.txt, or a single text file."""
    out: Annotated[Path | None, optional("FOLDER", "the checkpoint's own")] = None
    """Where tuned_lens.safetensors and tuned_lens.json go."""
    num_steps: int = 300
    """Training steps."""
    seed: int = 0
    """Which windows of the text are read."""

    def run(self) -> int:
        from tipshare.checkpoint import open_checkpoint
        from tipshare.checkpoint.tuned_lens import save_lens
        from training.data.corpus import load_corpus
        from training.engine.tuned_lens import train_lens

        checkpoint = open_checkpoint(self.checkpoint)
        if self.out is None and checkpoint.origin in ("cache", "Hub"):
            raise ValueError(f"{self.checkpoint} is a download: say where to write the lens, with --out FOLDER")
        if checkpoint.adapter is not None:
            raise ValueError(f"{self.checkpoint} is an adapter: merge it into its base and give that folder")
        model = checkpoint.load("float32")
        corpus = load_corpus(self.corpus, self.data_dir)
        start = time.perf_counter()
        lens, done = train_lens(model, corpus, num_steps=self.num_steps, seed=self.seed)
        path = save_lens(lens, checkpoint, done, self.out)
        print(
            f"{'depth t':>8} {'logit lens':>11} {'tuned lens':>11}   (KL to the last depth, nats, {corpus.name} valid)"
        )
        pairs = zip(done.divergences_before, done.divergences_after, strict=True)
        for step, (before, after) in enumerate(pairs):
            print(f"{step / model.steps:8.3f} {before:11.4f} {after:11.4f}")
        print(f"{self.num_steps} steps in {time.perf_counter() - start:.0f} s: {path}")
        return 0
