"""The runs behind the page on fine-tuning, the most telling ones first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tipshare.config import KINDS
from training.finetune.methods import Method
from training.finetune.recipe import FINETUNE
from training.recipes.library import find_recipe
from training.recipes.recipe import Recipe

WIKITEXT, SHAKESPEARE = "wikitext-2", "shakespeare"
RANKS = (2, 8, 32)
# Depth steps besides those that the checkpoints were trained with.
OTHER_DEPTHS = (3, 12)
# What trains the checkpoints that do not come with the project, each at one number of depth steps. Of WikiText-2 those
# are of other depths alone: the bundled ones drew theirs, and lose little at another.
FIXED = {WIKITEXT: find_recipe("tuned-1000"), SHAKESPEARE: find_recipe("tuned-shakespeare")}
CONTINUOUS = tuple(kind for kind, config in KINDS.items() if config().is_continuous)


@dataclass(frozen=True)
class Job:
    """One run.

    Attributes:
        kind: Kind of the model.
        depth_steps: Number of depth steps, if it is not the checkpoint's.
        recipe: What decides how long it takes.
        arguments: Those of `python -m training`.
    """

    name: str
    kind: str
    depth_steps: int | None
    recipe: Recipe
    arguments: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Where texts and runs are.

    Attributes:
        wikitext: Folder of WikiText-2; None for a download.
        shakespeare: File or folder of tiny Shakespeare; None for a download.
    """

    out: Path
    wikitext: Path | None = None
    shakespeare: Path | None = None

    def jobs(self, seeds: Sequence[int] = FINETUNE.seeds) -> Iterator[Job]:
        """All runs in order: after every part of them there is something to show.

        The first seed alone is used for the two directions between the texts, all of them for another depth on the
        same text.
        """
        yield from (self._first(WIKITEXT, kind) for kind in CONTINUOUS)
        for depth in OTHER_DEPTHS:
            for seed in seeds:
                for kind in CONTINUOUS:
                    yield self._job(WIKITEXT, WIKITEXT, kind, depth, "full", None, seed)
        yield from self._between(WIKITEXT, SHAKESPEARE, None, seeds[0])
        for depth in OTHER_DEPTHS:
            yield from self._between(WIKITEXT, SHAKESPEARE, depth, seeds[0])
        yield from (self._first(SHAKESPEARE, kind) for kind in KINDS)
        for depth in (None, *OTHER_DEPTHS):
            yield from self._between(SHAKESPEARE, WIKITEXT, depth, seeds[0])

    def _between(self, before: str, after: str, depth: int | None, seed: int) -> Iterator[Job]:
        """Every method for every kind, from one text to another."""
        for kind in KINDS if depth is None else CONTINUOUS:
            methods: tuple[Method, ...] = ("full", "norms") + (("gates",) if kind in CONTINUOUS else ())
            for method in methods:
                yield self._job(before, after, kind, depth, method, None, seed)
            for rank in RANKS:
                yield self._job(before, after, kind, depth, "lora", rank, seed)

    def _first(self, text: str, kind: str) -> Job:
        """A checkpoint that is trained at one number of depth steps."""
        recipe, folder = FIXED[text], self._folders[text]
        words = ["train", recipe.name, "--model", kind, "--seed", str(recipe.seeds[0]), "--out", str(self.out)]
        words += ["--data-dir", str(folder)] if folder else []
        return Job(f"{kind} on {text}", kind, None, recipe.for_model(kind), tuple(words))

    def _checkpoint(self, kind: str, before: str, after: str) -> str:
        """What is fine-tuned: the bundled checkpoint of WikiText-2 on another text, else that of `_first`."""
        if before == WIKITEXT != after:
            return kind
        return str(self.out / FIXED[before].name / kind / f"seed-{FIXED[before].seeds[0]}")

    @property
    def _folders(self) -> dict[str, Path | None]:
        return {WIKITEXT: self.wikitext, SHAKESPEARE: self.shakespeare}

    def _job(
        self, before: str, after: str, kind: str, depth: int | None, method: Method, rank: int | None, seed: int
    ) -> Job:
        folders = self._folders
        words = ["finetune", self._checkpoint(kind, before, after), "--method", method, "--seeds", str(seed)]
        words += ["--corpus", after, "--out", str(self.out)]
        words += ["--depth-steps", str(depth)] if depth else []
        words += ["--rank", str(rank)] if rank else []
        words += ["--data-dir", str(folders[after])] if folders[after] else []
        if before != after and folders[before]:
            words += ["--first-text", str(folders[before])]
        at = f" at {depth} depth steps" if depth else ""
        name = f"{kind}, {before} to {after}, {method}{f' {rank}' if rank else ''}{at}, seed {seed}"
        return Job(name, kind, depth, FINETUNE, tuple(words))
