"""`python -m training evaluate`: score a checkpoint on a corpus."""

from dataclasses import dataclass
from typing import Annotated

import equinox as eqx
import tyro

from tipshare.model.depth import SolverName
from training.commands.options import DataDir, optional


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Compute the loss of a checkpoint on whole splits of a corpus; every byte counts once."""

    checkpoint: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CHECKPOINT")]
    """Folder of a run or checkpoint, name of a bundled one, or Hub id."""
    corpus: str = "wikitext-2"
    """Name of a corpus, or a label for the text in --data-dir."""
    data_dir: DataDir = None
    """Text to score: a folder with train.txt, valid.txt and test.txt, or a single text file."""
    splits: tuple[str, ...] = ("valid", "test")
    """Splits to score."""
    steps: Annotated[int | None, optional("INT", "as trained")] = None
    """Depth steps, for kinds whose weights are defined at every depth."""
    solver: SolverName = "euler"
    """How a depth step is taken, for models with step=euler; the others evaluate a block two or four times."""

    def run(self) -> int:
        import tipshare
        from training.data.corpus import load_corpus
        from training.engine.evaluation import Evaluator

        model = tipshare.load(self.checkpoint, dtype="float32")
        evaluations = model.block_evaluations(self.steps, solver=self.solver)
        corpus = load_corpus(self.corpus, self.data_dir)
        parameters, static = eqx.partition(model, eqx.is_array)
        evaluator, context = Evaluator(static), model.config.max_position_embeddings
        print(f"{self.steps or model.steps} depth steps by {self.solver}: {evaluations} block evaluations per byte")
        print(f"{'split':8} {'bytes':>12} {'nats/byte':>10} {'bits/byte':>10} {'nats/char':>10} {'perplexity':>11}")
        for split in self.splits:
            data = corpus.split(split)
            found = evaluator.on_split(parameters, data, context, steps=self.steps, solver=self.solver)
            numbers = (found.loss, found.bits_per_byte, found.loss_per_character)
            shown = " ".join(f"{number:10.4f}" for number in numbers)
            print(f"{split:8} {found.num_bytes:12,} {shown} {found.perplexity:11.4f}")
        return 0
