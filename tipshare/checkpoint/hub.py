"""Publish a checkpoint folder on the Hugging Face Hub, in one commit."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tipshare.checkpoint import Checkpoint, read_folder
from tipshare.checkpoint.layout import CARD, DATA_FILES, FIGURE, is_checkpoint_file
from tipshare.checkpoint.private import check_private
from tipshare.checkpoint.reading import size_of

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TEXT_SUFFIXES = (".json", ".md", ".py", ".txt", ".toml", ".yaml")


@dataclass(frozen=True)
class Published:
    """What a push did.

    Attributes:
        address: Where people find it.
        commit: The commit that holds it.
        changed: Whether a commit was made; False if everything was there already.
    """

    address: str
    commit: str
    changed: bool


def push(
    folder: str | Path,
    repo_id: str,
    *,
    private: bool = False,
    revision: str | None = None,
    tag: str | None = None,
    token: str | None = None,
) -> Published:
    """Upload a checkpoint folder in one commit: either all of it is on the Hub afterwards, or nothing has changed.

    Pushing an unchanged folder again makes no commit, so a push that failed is completed by repeating it.

    Args:
        repo_id: "organisation/name"; the repository is made if there is none.
        private: Make a new repository private; an existing one must be private already.
        revision: Branch to commit to, made from `main` if there is none; None for `main`.
        tag: Also give the commit this name.
        token: Access token; None uses the one of the environment or the client's login.
    """
    from huggingface_hub import HfApi

    checkpoint = read_folder(Path(folder))
    checkpoint.verify()
    api = HfApi(token=token)
    published = commit_files(api, repo_id, list_files(checkpoint), private=private, revision=revision)
    if tag is not None:
        _add_tag(api, repo_id, tag, published.commit)
    return published


def list_files(checkpoint: Checkpoint) -> dict[str, Path]:
    """The files of a checkpoint that are published, by name; other files in the folder are not."""
    names = dict.fromkeys([*checkpoint.sums, *DATA_FILES, CARD, FIGURE])
    paths = {name: checkpoint.folder / name for name in names}
    return {name: path for name, path in paths.items() if path.is_file() or path.is_symlink()}


def commit_files(
    api: "HfApi",
    repo_id: str,
    files: dict[str, Path],
    *,
    private: bool = False,
    revision: str | None = None,
    repo_type: str = "model",
    message: str = "Upload checkpoint",
    is_ours: Callable[[str], bool] = is_checkpoint_file,
) -> Published:
    """One commit that makes the repository hold `files`; the repository is made if there is none.

    Nothing is sent if a file is not a regular one (what a link leads to was perhaps never meant to be published) or
    holds a secret. `HfApi.upload_folder` would be shorter, but it may split an upload into several commits.

    Args:
        is_ours: Which files of the repository the same commit deletes, by name, if they are not among `files`.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    for name, path in files.items():
        size_of(path)
        if name.endswith(TEXT_SUFFIXES):
            check_private(path.read_text(encoding="utf-8"), name)
    space_sdk = "gradio" if repo_type == "space" else None
    api.create_repo(repo_id, repo_type=repo_type, space_sdk=space_sdk, private=private, exist_ok=True)
    if revision is not None and revision != "main":
        api.create_branch(repo_id, branch=revision, repo_type=repo_type, exist_ok=True)
    before = api.repo_info(repo_id, revision=revision, repo_type=repo_type)
    if private and not before.private:
        raise ValueError(f"{repo_id} exists and is public: push without private, or choose another name")
    present = set(api.list_repo_files(repo_id, revision=before.sha, repo_type=repo_type))
    stale = [name for name in sorted(present - set(files)) if is_ours(name)]
    operations = [
        *(CommitOperationDelete(name) for name in stale),
        *(CommitOperationAdd(name, path) for name, path in sorted(files.items())),
    ]
    commit = api.create_commit(
        repo_id,
        operations,
        commit_message=message,
        revision=revision,
        repo_type=repo_type,
        parent_commit=before.sha,
    )
    prefix = "" if repo_type == "model" else f"{repo_type}s/"
    return Published(f"{api.endpoint}/{prefix}{repo_id}", commit.oid, commit.oid != before.sha)


def _add_tag(api: "HfApi", repo_id: str, tag: str, commit: str) -> None:
    tags = {each.name: each.target_commit for each in api.list_repo_refs(repo_id).tags}
    if tag not in tags:
        api.create_tag(repo_id, tag=tag, revision=commit)
    elif tags[tag] != commit:
        raise ValueError(
            f"tag {tag!r} of {repo_id} names the older commit {tags[tag][:12]}, and this push made {commit[:12]}: "
            "choose a new tag"
        )
