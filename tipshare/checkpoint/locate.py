"""Find a checkpoint by its path, its bundled name, or its Hub repository."""

import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from tipshare.checkpoint.layout import ADAPTER_CONFIG, CHECKSUMS, CONFIG, PATTERNS, CheckpointError

Origin = Literal["path", "bundle", "cache", "Hub"]

BUNDLE_VARIABLE = "TIPSHARE_CHECKPOINTS"
PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, kw_only=True)
class Download:
    """How the Hub is asked for what is not on this machine.

    Attributes:
        cache_dir: Where the Hub client keeps downloads; None for its usual place.
        token: Access token for private repositories; None uses the one of the environment or the client's login.
        most_bytes: Refuse a repository whose files are larger in all, as the Hub lists them, before any is downloaded.
    """

    cache_dir: str | Path | None = None
    token: str | bool | None = None
    most_bytes: int | None = None


USUAL_DOWNLOAD = Download()


@dataclass(frozen=True)
class Location:
    """A checkpoint folder and how it was found."""

    folder: Path
    origin: Origin


def bundle_folder() -> Path:
    """The folder of the bundled checkpoints.

    An environment variable may name it. In an installed package it is `bundled/` inside, with the two small
    checkpoints; in a checkout of the project it is `checkpoints/` beside the package, with all of them.
    """
    given = os.environ.get(BUNDLE_VARIABLE)
    if given:
        return Path(given)
    inside = PACKAGE / "bundled"
    return inside if inside.is_dir() else PACKAGE.parent / "checkpoints"


def list_bundled() -> list[str]:
    """Names of the checkpoints that came with the package; `load(name)` takes each of them."""
    folder = bundle_folder()
    if not folder.is_dir():
        return []

    def is_checkpoint(each: Path) -> bool:
        return (each / CHECKSUMS).is_file() and ((each / CONFIG).is_file() or (each / ADAPTER_CONFIG).is_file())

    return sorted(each.name for each in folder.iterdir() if is_checkpoint(each))


def locate(name: str | Path, revision: str | None = None, download: Download = USUAL_DOWNLOAD) -> Location:
    """The folder of a checkpoint; what is not a folder or a bundled name is looked up on the Hub."""
    if not str(name) or "\0" in str(name):
        raise CheckpointError(f"{name!r:.80} is not a checkpoint's name: give a folder, a bundled name or a Hub id")
    if revision is None and os.path.isdir(name):
        return Location(Path(name), "path")
    if isinstance(name, Path) or Path(name).is_absolute() or str(name).startswith("."):
        raise CheckpointError(f"there is no folder {name}")
    if revision is None and name in list_bundled():
        return Location(bundle_folder() / name, "bundle")
    if name.count("/") != 1:
        known = ", ".join(list_bundled()) or "none here"
        raise CheckpointError(
            f"{name!r:.120} is neither a folder nor a bundled checkpoint ({known}); on the Hub it would be "
            "organisation/name"
        )
    return _fetch(name, revision, download)


def _fetch(repo_id: str, revision: str | None, download: Download) -> Location:
    # Imported here: the Hub client takes a while to import, and loading from disk needs none of it.
    from httpx2 import HTTPError
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    commit = revision

    def snapshot(*, local_files_only: bool) -> str:
        return snapshot_download(
            repo_id,
            revision=commit,
            cache_dir=download.cache_dir,
            token=download.token,
            allow_patterns=list(PATTERNS),
            local_files_only=local_files_only,
        )

    try:
        cached = snapshot(local_files_only=True)
    except LocalEntryNotFoundError:
        cached = None
    except HFValidationError as error:
        raise CheckpointError(f"{repo_id!r:.120} is not a Hub repository id: {error}") from error
    complete = cached is not None and (Path(cached) / CHECKSUMS).is_file()
    try:
        if download.most_bytes is not None:
            listed = HfApi().model_info(repo_id, revision=revision, token=download.token, files_metadata=True)
            _check_sizes(repo_id, {each.rfilename: each.size for each in listed.siblings or ()}, download.most_bytes)
            commit = listed.sha  # what was looked at is what is downloaded
        folder = snapshot(local_files_only=False)
    except (HfHubHTTPError, LocalEntryNotFoundError, HTTPError, OSError) as error:
        at = f" at revision {revision}" if revision else ""
        raise CheckpointError(
            f"cannot fetch {repo_id}{at} from the Hub ({_first_line(error)}); check the name and the revision, log in "
            "with `hf auth login` if it is private, or unset HF_HUB_OFFLINE"
        ) from error
    return Location(Path(folder), "cache" if complete and folder == cached else "Hub")


def _check_sizes(repo_id: str, sizes: dict[str, int | None], most_bytes: int) -> None:
    """Refuse a download that is too large, or whose size nobody knows."""
    wanted = {name: size for name, size in sizes.items() if any(fnmatchcase(name, each) for each in PATTERNS)}
    unknown = [name for name, size in wanted.items() if size is None]
    if unknown:
        raise CheckpointError(f"{repo_id}: the Hub does not say how large {unknown[0]!r:.80} is, so it is not fetched")
    total = sum(size for size in wanted.values() if size is not None)
    if total > most_bytes:
        raise CheckpointError(
            f"{repo_id} has {total:,} bytes to download; at most {most_bytes:,} are fetched here. In Python, "
            f"tipshare.load({repo_id!r}) fetches any number"
        )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
