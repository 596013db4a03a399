"""What a visitor asks to be trained: checked against the limits of the page, and made into a run."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from app.controls import text as as_text
from app.controls import whole_number
from app.train.choices import MOST_PARAMETERS, NOTHING, RECIPE, Option, options_of
from tipshare.config import ModelConfig, config_class_of
from tipshare.model.parameters import count_parameters
from tipshare.text.tokenizer import to_bytes
from tipshare.validation import check_whole
from training.data.corpus import Corpus, load_corpus, make_corpus
from training.engine.run import Run
from training.recipes.recipe import Recipe

BUILTIN, PASTED = "builtin", "pasted"
# The folder of the checkpoint in that of a run.
CHECKPOINT = "checkpoint"
LEAST_STEPS, MOST_STEPS = 20, 600
WIDTHS = (32, 64, 96, 128)
MOST_SEED = 2**31 - 1
# Each of the three splits must hold a few windows.
LEAST_TEXT, MOST_TEXT = 5_000, 200_000


@dataclass(frozen=True, kw_only=True)
class TrainingRequest:
    """A run on the page.

    Attributes:
        kind: The kind to start from.
        choice: What is changed in it, by its value in `options_of(kind)`.
        source: `builtin`, or `pasted` for `text`.
        width: Units of the residual stream.
    """

    kind: str
    choice: str = NOTHING
    source: str = BUILTIN
    text: str = ""
    steps: int = RECIPE.num_steps
    width: int = RECIPE.model["hidden_dim"]
    seed: int = 0

    def __post_init__(self) -> None:
        config_class_of(self.kind)
        options = options_of(self.kind)
        if self.choice not in options:
            known = ", ".join(filter(None, options))
            raise ValueError(f"{self.choice!r:.80} cannot be changed in {self.kind}; what can is {known}")
        check_whole("training steps", self.steps, LEAST_STEPS, MOST_STEPS)
        check_whole("seed", self.seed, 0, MOST_SEED)
        if self.width not in WIDTHS:
            raise ValueError(f"width={self.width!r:.80} must be one of {', '.join(map(str, WIDTHS))}")
        if self.source not in (BUILTIN, PASTED):
            raise ValueError(f"no text is called {self.source!r:.80}: choose {BUILTIN}, or {PASTED} and give a text")
        if self.source == PASTED:
            size = len(to_bytes(self.text))
            if not LEAST_TEXT <= size <= MOST_TEXT:
                raise ValueError(f"the text has {size:,} bytes: paste {LEAST_TEXT:,} to {MOST_TEXT:,}")
        count = count_parameters(self.config).total
        if count > MOST_PARAMETERS:
            raise ValueError(
                f"this model has {count:,} parameters: choose a smaller width for at most {MOST_PARAMETERS:,}"
            )

    @classmethod
    def of_controls(cls, *values: Any) -> Self:
        """The request from the values of the page's controls, in the order of the fields."""
        kind, choice, source, text, steps, width, seed = values
        return cls(
            kind=as_text("kind", kind),
            choice=as_text("choice", choice) or NOTHING,
            source=as_text("source", source),
            text=as_text("text", text),
            steps=whole_number("training steps", steps),
            width=whole_number("width", width),
            seed=whole_number("seed", seed),
        )

    @property
    def option(self) -> Option:
        return options_of(self.kind)[self.choice]

    @property
    def label(self) -> str:
        """The label of the model in tables and lists, as of an ablation."""
        return ", ".join(filter(None, [self.kind, self.option.label]))

    @property
    def changes(self) -> list[str]:
        """What differs from the recipe, as `--set` takes it."""
        changes = [*self.option.changes]
        if self.steps != RECIPE.num_steps:
            changes.append(f"num_steps={self.steps}")
        if RECIPE.warmup_steps >= self.steps // 2:
            changes.append(f"warmup_steps={self.steps // 10}")
        if self.width != RECIPE.model["hidden_dim"]:
            changes.append(f"model.hidden_dim={self.width}")
        return changes + ([f"corpus={PASTED}"] if self.source == PASTED else [])

    @property
    def recipe(self) -> Recipe:
        return RECIPE.change(self.changes)

    @property
    def config(self) -> ModelConfig:
        return self.recipe.configure(self.kind)[1]

    @property
    def command(self) -> str:
        """The command that repeats the run."""
        words = ["python", "-m", "training", "train", RECIPE.name, "--model", self.kind, "--seed", str(self.seed)]
        words += ["--set", *self.changes] if self.changes else []
        return shlex.join([*words, *(["--data-dir", "DIR"] if self.source == PASTED else [])])

    def describe_run(self, folder: Path) -> Run:
        """The run, with its files in a folder."""
        return Run(
            recipe=self.recipe,
            model=self.label,
            config=self.config,
            seed=self.seed,
            corpus=self._corpus(),
            folder=folder / CHECKPOINT,
            collection=folder / "runs.jsonl",
            command=self.command,
        )

    def _corpus(self) -> Corpus:
        if self.source == BUILTIN:
            return load_corpus(BUILTIN)
        return make_corpus(PASTED, {"all": np.frombuffer(to_bytes(self.text), np.uint8)})
