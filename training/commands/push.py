"""`python -m training push`, `push-all` and `push-space`: checkpoints and the demo to the Hugging Face Hub."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tipshare.checkpoint import Checkpoint
from tipshare.checkpoint.hub import Published
from tipshare.config import KINDS
from training.commands.options import optional
from training.results.records import read_records


@dataclass(frozen=True, kw_only=True)
class PushOptions:
    """How checkpoints are uploaded."""

    private: bool = False
    """Create repositories as private."""
    tag: Annotated[str | None, optional("TAG")] = None
    """Tag the commit, for example v1."""
    collection: bool = False
    """Add models to the tipshare collection of the organisation."""
    records: Annotated[Path | None, optional("PATH", "checkpoints/runs.jsonl, if it exists")] = None
    """Records to compare with in the card: a JSON lines file, or a folder of them."""

    def push(self, checkpoint: Checkpoint, repo: str) -> None:
        """Write the card, show what is uploaded and how large it is, push it, print the address."""
        from tipshare.checkpoint.hub import push
        from training.publish.hub import COLLECTION, add_to_collection, describe_upload, write_card

        bundled = Path("checkpoints/runs.jsonl")
        records = self.records or (bundled if bundled.exists() else None)
        write_card(checkpoint, repo, read_records(records) if records else [])
        print(describe_upload(checkpoint, repo), flush=True)
        with _hub_errors():
            published = push(checkpoint.folder, repo, private=self.private, tag=self.tag)
            if self.collection:
                add_to_collection(repo, COLLECTION)
            _report(published)


@dataclass(frozen=True, kw_only=True)
class Push(PushOptions):
    """Upload a checkpoint in one commit, or in none if it is unchanged. The token comes from HF_TOKEN or `hf auth`."""

    run_or_folder: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="CHECKPOINT")]
    """Folder of a run or checkpoint, or the name of a bundled one."""
    repo: Annotated[str, tyro.conf.arg(metavar="ORGANISATION/NAME")]
    """Repository to upload to."""

    def run(self) -> int:
        from training.publish.hub import find_checkpoint

        self.push(find_checkpoint(self.run_or_folder), self.repo)
        return 0


@dataclass(frozen=True, kw_only=True)
class PushAll(PushOptions):
    """Upload the checkpoint of every kind, with a comparison in every card; repeating it completes what broke off."""

    organisation: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ORGANISATION")]
    """User or organisation on the Hub."""
    folder: Path = Path("checkpoints")
    """Folder with a checkpoint per kind."""
    kinds: tuple[str, ...] = tuple(KINDS)
    """Kinds to upload."""
    prefix: str = ""
    """Text before the kind in a repository's name."""
    collection: Annotated[bool, optional("")] = True
    """Do not add the models to the tipshare collection of the organisation."""

    def run(self) -> int:
        from training.publish.hub import plan_all

        for repo, checkpoint in plan_all(self.folder, self.organisation, self.kinds, self.prefix).items():
            self.push(checkpoint, repo)
        return 0


@dataclass(frozen=True, kw_only=True)
class PushSpace:
    """Upload the demo as a Gradio Space."""

    repo: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ORGANISATION/NAME")]
    """Space to upload to."""
    models: tuple[str, ...] = ()
    """Model repositories that the Space loads, instead of a copy of the bundled checkpoints."""
    root: Path = Path(".")
    """Folder of the project."""
    private: bool = False
    """Create the Space as private."""

    def run(self) -> int:
        from training.publish.space import push_space

        with tempfile.TemporaryDirectory() as scratch, _hub_errors():
            _report(push_space(self.repo, self.root, Path(scratch), models=self.models, private=self.private))
        return 0


@contextmanager
def _hub_errors() -> Iterator[None]:
    """Turn errors of the Hub and of the network into one line that says what to do."""
    from httpx2 import HTTPError

    try:
        yield
    except (HTTPError, OSError, RuntimeError) as error:  # the client raises RuntimeError for a failed large file
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(f"the push did not finish ({reason}); repeat the command to complete it") from error


def _report(published: Published) -> None:
    state = "pushed" if published.changed else "unchanged, no new commit"
    print(f"{published.address} ({state}, {published.commit[:12]})", flush=True)
