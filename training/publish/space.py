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

FRONT_MATTER = {
    "title": "tipshare",
    "emoji": "🕰️",
    "colorFrom": "indigo",
    "colorTo": "green",
    "sdk": "gradio",
    "python_version": '"3.11"',
    "app_file": "app.py",
    "license": "mit",
    "short_description": "One block, every depth",
}


def make_readme(readme: str, requirements: str, models: Sequence[str]) -> str:
    """The Space's README.md: front matter for this version of Gradio and these models, over the project's own text."""
    text = re.sub(r"\A---\n.*?\n---\n", "", readme, flags=re.S)
    found = re.search(r"^gradio==(\S+)$", requirements, flags=re.M)
    if found is None:
        raise ValueError("requirements.txt does not pin gradio (gradio==...): the Space needs its exact version")
    lines = [f"{key}: {value}" for key, value in {**FRONT_MATTER, "sdk_version": found[1]}.items()]
    if models:
        lines += ["models:", *(f"- {model}" for model in models)]
    return "\n".join(["---", *lines, "---", ""]) + text


def list_space_files(root: Path, *, with_weights: bool) -> dict[str, Path]:
    """The files of the demo by their path in the Space."""
    missing = [name for name in ("app.py", "requirements.txt") if not (root / name).is_file()]
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
    """Upload the demo in one commit; the weights stay out if their models are named, for the Space fetches those.

    Args:
        scratch: A folder for the README that is made.
        models: Hub ids of the models that the demo shows.
    """
    from huggingface_hub import HfApi

    files = list_space_files(root, with_weights=not models)
    requirements = (root / "requirements.txt").read_text(encoding="utf-8")
    text = (root / README).read_text(encoding="utf-8") if (root / README).is_file() else ""
    readme = scratch / README
    readme.write_text(make_readme(text, requirements, models), encoding="utf-8")
    api = HfApi()
    api.create_repo(repo_id, repo_type="space", space_sdk="gradio", private=private, exist_ok=True)
    return commit_files(
        api,
        repo_id,
        {**files, README: readme},
        private=private,
        repo_type="space",
        message="Upload demo",
        is_ours=lambda name: name in FILES or name.split("/")[0] in FOLDERS,
    )
