"""A run's state on disk, from which it continues exactly where it stopped."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from tipshare.checkpoint.container import write_file
from tipshare.checkpoint.reading import parse_json, read_file, size_of
from tipshare.files import replacing, write_text

KEPT = 2
FACTS = re.compile(r"step-(\d{1,18})\.json", re.ASCII)
# A history has a few thousand numbers.
LARGEST_FACTS = 64 * 2**20


@dataclass(frozen=True)
class SavedState:
    """The state of a run after a training step.

    Attributes:
        arrays: Model and optimizer arrays by their path in the tree.
        facts: Everything else, as JSON values.
    """

    step: int
    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


def save_state(folder: Path, state: SavedState) -> None:
    """Write a state, then drop all but the newest two.

    The arrays are complete on disk before the facts that name their checksum appear, and the facts appear by a
    rename, so that a process killed at any moment leaves the states before it intact.
    """
    arrays_path, facts_path = _paths(folder, state.step)
    with replacing(arrays_path) as temporary:
        written = write_file(temporary, state.arrays, {})
    content = json.dumps({"step": state.step, "arrays_sha256": written.sha256, "facts": state.facts}, allow_nan=False)
    write_text(facts_path, json.dumps({"sha256": hashlib.sha256(content.encode()).hexdigest(), "content": content}))
    for old in saved_steps(folder)[KEPT:]:
        for path in reversed(_paths(folder, old)):
            path.unlink(missing_ok=True)


def saved_steps(folder: Path) -> list[int]:
    """Steps with a saved state, newest first; other files in the folder are left alone."""
    names = (FACTS.fullmatch(path.name) for path in folder.glob("*.json"))
    return sorted((int(name[1]) for name in names if name), reverse=True)


def load_newest(folder: Path, say: Any) -> SavedState | None:
    """The newest undamaged state, or None if nothing was saved; `say` prints a line for each damaged or stray file."""
    steps = saved_steps(folder)
    own = {path.name for step in steps for path in _paths(folder, step)}
    stray = sorted(path.name for path in folder.glob("*") if path.name not in own and not _is_left_over(path.name))
    if stray:
        say(f"{folder} holds what is no state of a run, which is ignored: {', '.join(map(repr, stray[:5]))}")
    for step in steps:
        try:
            state = _load(folder, step)
        except (ValueError, OSError, SafetensorError) as error:  # CheckpointError is a ValueError
            say(f"the state of step {step} is damaged ({error}); falling back to the one before it")
        else:
            return state
    if steps:
        raise ValueError(
            f"all saved states of this run are damaged ({', '.join(map(str, steps))}); "
            "delete its folder to start from the beginning"
        )
    return None


def _load(folder: Path, step: int) -> SavedState:
    arrays_path, facts_path = _paths(folder, step)
    outer = parse_json(read_file(facts_path, LARGEST_FACTS), facts_path.name)
    if not isinstance(outer.get("content"), str):
        raise ValueError("the file is not a saved training state")
    if hashlib.sha256(outer["content"].encode("utf-8", "surrogatepass")).hexdigest() != outer.get("sha256"):
        raise ValueError("the checksum of its facts does not match")
    content = parse_json(outer["content"], "its content")
    facts = content.get("facts")
    if not isinstance(facts, dict) or content.get("step") != step or not _are_of_a_run(facts):
        raise ValueError("its facts are not those of a run after this step")
    size_of(arrays_path)  # a regular file
    with arrays_path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != content.get("arrays_sha256"):
            raise ValueError("the checksum of its arrays does not match")
    return SavedState(step, load_file(arrays_path), facts)


def _are_of_a_run(facts: dict[str, Any]) -> bool:
    return all(isinstance(facts.get(name), dict) for name in ("run", "history"))


def _is_left_over(name: str) -> bool:
    """Whether a file is what a process leaves that was killed while it saved."""
    return name.endswith((".tmp", ".safetensors"))


def flatten(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a tree by their paths."""
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in jax.tree.leaves_with_path(tree)}


def unflatten(arrays: dict[str, np.ndarray], shapes: Any) -> Any:
    """The tree of `shapes` filled with the arrays of `flatten`."""
    expected = jax.tree.leaves_with_path(shapes)
    names = [jax.tree_util.keystr(path) for path, _ in expected]
    if set(names) != set(arrays):
        differing = sorted(set(names) ^ set(arrays))
        raise ValueError(
            f"the saved state belongs to another model: {len(differing)} arrays differ, {differing[0]} first"
        )
    for name, (_, leaf) in zip(names, expected, strict=True):
        if arrays[name].shape != leaf.shape or arrays[name].dtype != leaf.dtype:
            raise ValueError(
                f"the saved state belongs to another model: {name} is {arrays[name].shape}, not {leaf.shape}"
            )
    return jax.tree.unflatten(jax.tree.structure(shapes), [arrays[name] for name in names])


def _paths(folder: Path, step: int) -> tuple[Path, Path]:
    name = f"step-{step:08d}"
    return folder / f"{name}.safetensors", folder / f"{name}.json"
