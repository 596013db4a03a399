"""`python -m training push`, `push-all` and `push-space`: checkpoints and the demo to the Hugging Face Hub."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tipshare.config import KINDS


@dataclass(frozen=True, kw_only=True)
class Push:
    """Upload a checkpoint in one commit; an unchanged one makes none. The token comes from HF_TOKEN or `hf auth`."""

    run_or_folder: Annotated[str, tyro.conf.Positional]
    """Folder of a run or checkpoint, or the name of a bundled one."""
    repo: str
    """Where to, as organisation/name."""
    private: bool = False
    """Create the repository as private."""
    tag: str | None = None
    """Tag the commit, for example v1."""
    collection: bool = False
    """Add the model to the tipshare collection of the organisation."""
    records: Path | None = None
    """Records to compare with in the card; checkpoints/runs.jsonl if there is one."""

    def run(self) -> int:
        from training.publish import run_push

        return run_push(
            self.run_or_folder,
            repo=self.repo,
            private=self.private,
            tag=self.tag,
            collection=self.collection,
            records=self.records,
        )


@dataclass(frozen=True, kw_only=True)
class PushAll:
    """Upload the checkpoint of every kind, with a comparison in every card."""

    organisation: Annotated[str, tyro.conf.Positional]
    """User or organisation on the Hub."""
    folder: Path = Path("checkpoints")
    """Folder with a checkpoint per kind."""
    kinds: tuple[str, ...] = tuple(KINDS)
    """Kinds to upload."""
    prefix: str = ""
    """Put before the kind in a repository's name."""
    private: bool = False
    """Create the repositories as private."""
    tag: str | None = None
    """Tag the commits, for example v1."""
    collection: bool = True
    """Gather the models in a collection."""
    records: Path | None = None
    """Records to compare with in the cards; checkpoints/runs.jsonl if there is one."""

    def run(self) -> int:
        from training.publish import run_push_all

        return run_push_all(
            self.organisation,
            folder=self.folder,
            kinds=self.kinds,
            prefix=self.prefix,
            private=self.private,
            tag=self.tag,
            collection=self.collection,
            records=self.records,
        )


@dataclass(frozen=True, kw_only=True)
class PushSpace:
    """Upload the demo as a Gradio Space."""

    repo: Annotated[str, tyro.conf.Positional]
    """Where to, as organisation/name."""
    models: tuple[str, ...] = ()
    """Model repositories the Space loads instead of carrying the weights."""
    private: bool = False
    """Create the Space as private."""

    def run(self) -> int:
        from training.publish import run_push_space

        return run_push_space(self.repo, models=self.models, private=self.private)
