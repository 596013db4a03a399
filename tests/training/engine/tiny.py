"""A recipe small enough to train in a test, and what its runs must agree on."""

import numpy as np

from training.data.corpus import Corpus
from training.recipes.recipe import Recipe
from training.results.records import RunRecord

TINY_MODEL = {"hidden_dim": 16, "num_heads": 2, "num_layers": 2, "state_dim": 4, "time_dim": 4, "time_frequencies": 2}
TINY = Recipe(
    name="tiny",
    summary="for tests",
    corpus="builtin",
    num_steps=12,
    batch_size=4,
    length=16,
    learning_rate=1e-2,
    evaluate_every=5,
    evaluation_windows=8,
    full_evaluation=("valid",),
    save_every=4,
    model=TINY_MODEL,
    seeds=(0, 1),
)


class StoppingCorpus(Corpus):
    """A text whose reading fails at one step, as a machine may."""

    failing_step = 0

    @classmethod
    def before(cls, step: int, corpus: Corpus) -> "StoppingCorpus":
        made = cls(corpus.name, corpus.splits, corpus.sha256)
        object.__setattr__(made, "failing_step", step)
        return made

    def windows(self, split, seed, step, batch, length):
        if step == self.failing_step:
            raise OSError("the disk is gone")
        return super().windows(split, seed, step, batch, length)


UNREPEATED = {"speed", "memory", "finished", "commit"}


def repeatable(record: RunRecord) -> dict:
    """What two runs of the same thing must agree on."""
    return {name: value for name, value in vars(record).items() if name not in UNREPEATED}


def assert_same_arrays(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    """Equal to the last bit."""
    assert left.keys() == right.keys()
    assert all(left[name].tobytes() == right[name].tobytes() for name in left)
