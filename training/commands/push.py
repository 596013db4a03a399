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
from tipshare.checkpoint.record import RunRecord
from tipshare.config import KINDS
from training.results.records import read_records


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
        from training.publish.hub import find_checkpoint

        checkpoint = find_checkpoint(self.run_or_folder)
        _push(checkpoint, self.repo, self.records, self.private, self.tag, self.collection)
        return 0


@dataclass(frozen=True, kw_only=True)
class PushAll:
    """Upload the checkpoint of every kind, with a comparison in every card; repeating it completes what broke off."""

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
        from training.publish.hub import plan_all

        for repo, checkpoint in plan_all(self.folder, self.organisation, self.kinds, self.prefix).items():
            _push(checkpoint, repo, self.records, self.private, self.tag, self.collection)
        return 0


@dataclass(frozen=True, kw_only=True)
class PushSpace:
    """Upload the demo as a Gradio Space."""

    repo: Annotated[str, tyro.conf.Positional]
    """Where to, as organisation/name."""
    models: tuple[str, ...] = ()
    """Model repositories the Space loads instead of carrying the weights."""
    root: Path = Path(".")
    """Folder of the project."""
    private: bool = False
    """Create the Space as private."""

    def run(self) -> int:
        from training.publish.space import push_space

        with tempfile.TemporaryDirectory() as scratch, _hub_errors():
            _report(push_space(self.repo, self.root, Path(scratch), models=self.models, private=self.private))
        return 0


def _push(
    checkpoint: Checkpoint, repo: str, records: Path | None, private: bool, tag: str | None, collection: bool
) -> None:
    """Write the card, show what is uploaded and how large it is, push it, print the address."""
    from tipshare.checkpoint.hub import push
    from training.publish.hub import COLLECTION, add_to_collection, describe_upload, write_card

    write_card(checkpoint, repo, _read(records))
    print(describe_upload(checkpoint, repo), flush=True)
    with _hub_errors():
        published = push(checkpoint.folder, repo, private=private, tag=tag)
        if collection:
            add_to_collection(repo, COLLECTION)
        _report(published)


@contextmanager
def _hub_errors() -> Iterator[None]:
    """Turn errors of the Hub and of the network into one line that says what to do."""
    from httpx2 import HTTPError

    try:
        yield
    except (HTTPError, OSError, RuntimeError) as error:  # the client raises RuntimeError for a failed large file
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(f"the push did not finish ({reason}); repeat the command to complete it") from error


def _read(records: Path | None) -> list[RunRecord]:
    """The records to compare with: those of a file or folder, or of `checkpoints/runs.jsonl` if there is one."""
    if records is None:
        records = Path("checkpoints/runs.jsonl")
        if not records.exists():
            return []
    return read_records(records)


def _report(published: Published) -> None:
    state = "pushed" if published.changed else "unchanged, no new commit"
    print(f"{published.address} ({state}, {published.commit[:12]})", flush=True)
