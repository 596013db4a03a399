"""The demo as a Gradio Space: its files, its front matter, and the models it lists."""

import re
from collections.abc import Sequence
from pathlib import Path

from tipshare.checkpoint.hub import Published, commit_files

README = "README.md"
FOLDERS = ("app", "tipshare", "training", "checkpoints", "docs")
FILES = ("app.py", "requirements.txt", "pyproject.toml", "LICENSE")
SKIPPED = {"__pycache__", ".ipynb_checkpoints"}
WEIGHT_SUFFIXES = (".safetensors",)
LARGEST_FILE = 90 * 10**6


def make_readme(readme: str, requirements: str, models: Sequence[str]) -> str:
    """The Space's README.md: the project's own, with the Gradio version of requirements.txt and these models."""
    from huggingface_hub import SpaceCard

    found = re.search(r"^gradio==(\S+)$", requirements, flags=re.M)
    if found is None:
        raise ValueError("requirements.txt does not pin gradio (gradio==...): the Space needs its exact version")
    card = SpaceCard(readme)
    if card.data.get("sdk") != "gradio":
        raise ValueError(f"{README} does not begin with the front matter of a Gradio Space (sdk: gradio)")
    card.data["sdk_version"] = found[1]
    card.data["models"] = list(models) or None
    return str(card)


def list_space_files(root: Path, *, with_weights: bool) -> dict[str, Path]:
    """The files of the demo by their path in the Space."""
    missing = [name for name in ("app.py", "requirements.txt", README) if not (root / name).is_file()]
    if missing:
        raise ValueError(f"{root} has no {missing[0]}: run this from the checkout of the project")
    paths = [root / name for name in FILES if (root / name).is_file()]
    for folder in FOLDERS:
        paths += [path for path in sorted((root / folder).rglob("*")) if path.is_file()]
    chosen = {}
    for path in paths:
        place = path.relative_to(root)
        hidden = any(part.startswith(".") or part in SKIPPED for part in place.parts)
        if hidden or (path.suffix in WEIGHT_SUFFIXES and not with_weights):
            continue
        if path.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{place} has more than {LARGEST_FILE // 10**6} MB: it does not belong in a Space")
        chosen[place.as_posix()] = path
    return chosen


def push_space(
    repo_id: str, root: Path, scratch: Path, *, models: Sequence[str] = (), private: bool = False
) -> Published:
    """Upload the demo in one commit, without weights if models are named, because the Space then fetches those.

    Args:
        scratch: A folder for the README that is made.
        models: Hub ids of the models that the demo shows.
    """
    from huggingface_hub import HfApi

    files = list_space_files(root, with_weights=not models)
    requirements = (root / "requirements.txt").read_text(encoding="utf-8")
    readme = scratch / README
    readme.write_text(make_readme((root / README).read_text(encoding="utf-8"), requirements, models), encoding="utf-8")
    return commit_files(
        HfApi(),
        repo_id,
        {**files, README: readme},
        private=private,
        repo_type="space",
        message="Upload demo",
        is_ours=lambda name: name in FILES or name.split("/")[0] in FOLDERS,
    )
