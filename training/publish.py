"""The verbs that publish: `push`, `push-all` and `push-space`, as functions of parsed arguments."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tipshare.config import KINDS
from tipshare.hub import Published
from training.hub import COLLECTION, find_checkpoint, plan_all, prepare_upload, push_upload
from training.records import RunRecord, read_records
from training.space import push_space


def run_push(
    run_or_folder: str,
    *,
    repo: str,
    private: bool = False,
    tag: str | None = None,
    collection: bool = False,
    records: Path | None = None,
) -> int:
    """`push RUN_OR_FOLDER --repo org/name`: show what goes up and how large it is, push it, print the address."""
    upload = prepare_upload(find_checkpoint(run_or_folder), repo, _read(records))
    print(upload, flush=True)
    with _hub_errors():
        _report(push_upload(upload, private=private, tag=tag, collection=COLLECTION if collection else None))
    return 0


def run_push_all(
    organisation: str,
    *,
    folder: Path = Path("checkpoints"),
    kinds: Sequence[str] = tuple(KINDS),
    prefix: str = "",
    private: bool = False,
    tag: str | None = None,
    collection: bool = True,
    records: Path | None = None,
) -> int:
    """`push-all ORGANISATION`: push the checkpoint of every kind; repeating it completes what was interrupted."""
    plan, known = plan_all(folder, organisation, kinds, prefix), _read(records)
    for repo_id, checkpoint in plan.items():
        upload = prepare_upload(checkpoint, repo_id, known)
        print(upload, flush=True)
        with _hub_errors():
            _report(push_upload(upload, private=private, tag=tag, collection=COLLECTION if collection else None))
    return 0


def run_push_space(repo: str, *, root: Path = Path("."), models: Sequence[str] = (), private: bool = False) -> int:
    """`push-space org/name`: upload the demo; with `--models` its weights come from those repositories."""
    with tempfile.TemporaryDirectory() as scratch, _hub_errors():
        _report(push_space(repo, root, Path(scratch), models=models, private=private))
    return 0


@contextmanager
def _hub_errors() -> Iterator[None]:
    """Turn what the Hub or the way to it can do into one line for the person at the keyboard."""
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
