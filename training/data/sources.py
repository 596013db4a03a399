"""Where texts come from: the Hugging Face Hub, a local folder or file, or the Python installation itself."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from tipshare.files import replacing

SPLITS = ("train", "valid", "test")


class HubText(NamedTuple):
    """A text stored as parquet files on the Hub.

    Attributes:
        files: Parquet files of every part, in order.
        empty_line: What an empty row stood for in the original file.
        sha256: Known digests of the assembled parts, checked after a download.
    """

    repository: str
    revision: str
    files: dict[str, tuple[str, ...]]
    empty_line: bytes = b""
    sha256: dict[str, str] = {}


def _wikitext(name: str, train_files: int, sha256: dict[str, str]) -> HubText:
    def files(split: str, count: int = 1) -> tuple[str, ...]:
        return tuple(f"{name}-v1/{split}-{number:05d}-of-{count:05d}.parquet" for number in range(count))

    return HubText(
        repository="Salesforce/wikitext",
        revision="b08601e04326c79dfdd32d625aee71d232d685c3",
        files={"train": files("train", train_files), "valid": files("validation"), "test": files("test")},
        # The data set stores the blank lines of the original files, a space and a line end, as empty rows.
        empty_line=b" \n",
        sha256=sha256,
    )


_EVALUATION_SPLITS = {
    "valid": "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
    "test": "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
}
HUB_TEXTS = {
    "wikitext-2": _wikitext("wikitext-2", 1, _EVALUATION_SPLITS),
    # Both sizes share their evaluation articles, but not the bytes: rare words were cut by each train split's counts.
    "wikitext-103": _wikitext("wikitext-103", 2, {}),
    "shakespeare": HubText(
        repository="karpathy/tiny_shakespeare",
        revision="refs/convert/parquet",
        # Stored in three pieces there; joined again, the usual split is taken by position.
        files={"all": tuple(f"default/{split}/0000.parquet" for split in ("train", "validation", "test"))},
        sha256={"all": "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"},
    ),
}


def cache_folder() -> Path:
    """Where assembled texts are kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tipshare" / "corpora"


def fetch_hub_text(name: str, folder: Path | None = None) -> dict[str, Path]:
    """The parts of a text on the Hub as files of bytes, downloaded on first use."""
    text = HUB_TEXTS[name]
    folder = (folder or cache_folder()) / name
    paths = {part: folder / f"{part}.txt" for part in text.files}
    for part, path in paths.items():
        if not path.exists():
            _assemble(name, text, part, path)
    return paths


def _assemble(name: str, text: HubText, part: str, path: Path) -> None:
    import pyarrow.parquet as parquet

    digest = hashlib.sha256()
    with replacing(path) as temporary:
        with temporary.open("wb") as file:
            for remote in text.files[part]:
                table = parquet.read_table(_download(name, text, remote), columns=["text"])
                for row in table.column("text").to_pylist():
                    line = row.encode("utf-8") or text.empty_line
                    digest.update(line)
                    file.write(line)
        expected = text.sha256.get(part)
        if expected and digest.hexdigest() != expected:
            raise ValueError(
                f"{name}, {part}: the download has sha256 {digest.hexdigest()}, not {expected}; the copy on the Hub "
                "changed or was damaged: get the text elsewhere and pass its folder with --data-dir"
            )


def _download(name: str, text: HubText, remote: str) -> str:
    from httpx2 import HTTPError
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        return hf_hub_download(text.repository, remote, repo_type="dataset", revision=text.revision)
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, HfHubHTTPError, HTTPError, OSError) as error:
        raise ValueError(
            f"cannot download {name} from the Hub ({type(error).__name__}). Without a network, put train.txt, "
            "valid.txt and test.txt in a folder and pass --data-dir FOLDER, or train on the built-in text with "
            "--set corpus=builtin"
        ) from error


def find_local_text(path: Path) -> dict[str, Path]:
    """A folder's train.txt, valid.txt and test.txt; or one text file, alone in its folder or given itself, as `all`."""
    if path.is_file():
        return {"all": path}
    if not path.is_dir():
        raise ValueError(f"--data-dir {path} is neither a folder nor a file")
    found = {split: path / f"{split}.txt" for split in SPLITS if (path / f"{split}.txt").exists()}
    if found:
        for split in ("train", "valid"):
            if split not in found:
                raise ValueError(
                    f"--data-dir {path} has {', '.join(each.name for each in found.values())} but no {split}.txt; "
                    "training needs both train.txt and valid.txt"
                )
        return found
    texts = sorted(path.glob("*.txt"))
    if len(texts) != 1:
        raise ValueError(
            f"--data-dir {path} holds {len(texts)} text files; it needs train.txt and valid.txt (and test.txt), "
            "or exactly one .txt file to split by position"
        )
    return {"all": texts[0]}


def builtin_text() -> bytes:
    """An English text that every Python installation carries: the language reference behind `help()`.

    About 460 kB; the same for every installation of one Python version.
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics)).encode("utf-8")
