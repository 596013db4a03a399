"""A run small enough to train in a test."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.training.engine.tiny import TINY
from training.data.corpus import Corpus, load_corpus
from training.engine.run import Run


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """The built-in text with short validation and test splits, so that scoring them whole is quick."""
    full = load_corpus("builtin")
    splits = {"train": full.split("train"), "valid": full.split("valid")[:1000], "test": full.split("test")[:777]}
    return Corpus("builtin", splits, full.sha256)


@pytest.fixture
def make_run(tmp_path: Path, corpus: Corpus) -> Callable[..., Run]:
    """Build a tiny run in a folder of its own: `make_run("standard", "num_steps=3", folder="a")`."""

    def make(model: str = "standard", *changes: str, seed: int = 0, folder: str = "run", text: Corpus = corpus) -> Run:
        recipe = TINY.change(changes)
        label, config = recipe.configure(model)
        return Run(
            recipe=recipe,
            model=label,
            config=config,
            seed=seed,
            corpus=text,
            folder=tmp_path / folder,
            collection=tmp_path / "runs.jsonl",
            command="none",
        )

    return make


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()
