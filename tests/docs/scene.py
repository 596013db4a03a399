"""A small world in which every command of README and docs runs for real.

A copy of the checkout with tiny checkpoints, the loopback Hub, a text of the reader's own, and a stand-in for a Python
with torch. Placeholders are filled from it, and recipes have small sizes there.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.app.models import save_tiny_models
from tests.compiling import compiler_environment
from tests.docs.pages import ROOT
from tests.hub.server import TOKEN, LoopbackHub
from tipshare import KINDS
from training.results.leading import PUBLISHED, TUNED
from training.results.records import read_records, write_records

# A copy of the folder `checkpoints`, from before any command.
PRISTINE = "pristine"
RUN = "runs/quick/time-indexed-ssm/seed-0"
# Words that stand for something of the reader's own, and what they stand for in the scene.
PLACEHOLDERS = {
    "RUN": RUN,
    "ORG": "org",
    "FOLDER": "texts",
    "PYTHON": "./python-with-torch",
    "ADDRESS": "",  # of the served page, filled in by the scene
}
# Put at the end of the copied library of recipes: the same recipes with small sizes, for every process in the scene.
SMALL_RECIPES = """
_SMALL = dict(num_steps=3, warmup_steps=0, batch_size=2, length=64, corpus="builtin", seeds=(0,))
_SMALL |= dict(evaluation_windows=2, full_evaluation=(), depth_evaluation=(), sample_every=0)
_SMALL["model"] = dict(hidden_dim=16, num_heads=2, num_layers=2, state_dim=4, time_dim=4, time_frequencies=2)
RECIPES.update({name: replace(recipe, **_SMALL) for name, recipe in RECIPES.items()})
_DRAWN = dict(depth_steps=(2, 3), depth_weights=())
RECIPES.update({name: replace(recipe, **_DRAWN) for name, recipe in RECIPES.items() if recipe.depth_steps})
"""
# A program and a verb, and the flags that are added to the shown command unless it has them.
ADDED: dict[str, dict[str, str]] = {
    "training benchmark": {"--rounds": "1"},
    "training depth": {"--corpus": "builtin", "--windows": "2", "--rounds": "1", "--depth-steps": "2 3"},
    "training finetune-grid": {},
    "training finetune": {"--set": "num_steps=2 warmup_steps=0 evaluation_windows=2"},
    "training evaluate": {"--corpus": "builtin", "--splits": "valid"},
    "tipshare generate": {"--max-bytes": "5"},
    "tests.load": {"--clients": "2", "--hostile": "0", "--seconds": "1", "--length": "5"},
}
# Answers as the benchmarks' torch programs do, with a fixed time for everything.
STAND_IN = """#!{python}
import json, sys
for number, _ in enumerate(sys.stdin):
    print(json.dumps({{"seconds": 0.01}} if number else {{"ready": True, "torch": "0.0"}}), flush=True)
"""


@dataclass(frozen=True)
class Scene:
    """A folder to run commands in, and the environment of their processes."""

    folder: Path
    environment: dict[str, str]
    address: str

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a shown command, filled in; an exit code other than 0 is an error."""
        words = self.fill(shlex.split(command))
        ran = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert ran.returncode == 0, f"{command}\nran as {shlex.join(words)}\n{ran.stdout}{ran.stderr}"
        return ran

    def run_python(self, code: str) -> None:
        """Run a piece of Python; what a comment under a `print` promises must be what it prints."""
        ran = subprocess.run(
            [sys.executable, "-c", code], cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
        for promised in re.findall(r"^print\(.*\)\n# (.*)$", code, re.MULTILINE):
            assert promised in ran.stdout, f"{promised!r} is promised, but not printed:\n{ran.stdout}"

    def reset(self) -> None:
        """Put the bundled checkpoints and records back as they were: commands may add to them."""
        shutil.rmtree(self.folder / "checkpoints")
        shutil.copytree(self.folder / PRISTINE, self.folder / "checkpoints")

    def fill(self, words: list[str]) -> list[str]:
        """The words of a command as they are executed here."""
        words = [self.address if word == "ADDRESS" else PLACEHOLDERS.get(word, word) for word in words]
        if words[0] == "tipshare":  # the script that an installed package has
            words = ["python", "-m", *words]
        if words[:2] != ["python", "-m"]:
            return words
        name = " ".join(words[2:4])
        added = next((added for start, added in ADDED.items() if name.startswith(start)), {})
        words += [word for flag, values in added.items() if flag not in words for word in (flag, *values.split())]
        if name == "training benchmark":
            return [sys.executable, str(Path(__file__).with_name("small_benchmark.py")), *words[3:]]
        return [sys.executable, *words[1:]]


def build_scene(folder: Path, hub: LoopbackHub, address: str = "") -> Scene:
    """Set everything up; `folder` is new."""
    save_tiny_models(folder / "checkpoints")
    copy_checkout(folder)
    keep_few_records(folder / "checkpoints" / "runs.jsonl")
    with (folder / "training" / "recipes" / "library.py").open("a") as library:
        library.write(SMALL_RECIPES)
    (folder / "texts").mkdir()
    for split in ("train", "valid", "test"):
        (folder / "texts" / f"{split}.txt").write_text("A text of the reader's own, said again and again. " * 40)
    (folder / "python-with-torch").write_text(STAND_IN.format(python=sys.executable))
    (folder / "python-with-torch").chmod(0o755)
    shutil.copytree(folder / "checkpoints", folder / PRISTINE)
    return Scene(folder, environment_for(folder, hub), address)


def copy_checkout(folder: Path) -> None:
    """The files of the project that a checkout has, for commands to read and write; of the tests the crowd alone."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        is_checkpoint = source.parent.parent == ROOT / "checkpoints" and source.parent.name in KINDS
        is_test = name.startswith("tests/") and not name.startswith(("tests/__init__.py", "tests/load/"))
        if source.is_file() and not is_test and not is_checkpoint:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def keep_few_records(path: Path) -> None:
    """Those of the two protocols: the figures of every trial would take a minute to draw."""
    kept = [each for each in read_records(path) if each.recipe in (TUNED, PUBLISHED)]
    write_records(kept, path)


def environment_for(folder: Path, hub: LoopbackHub) -> dict[str, str]:
    """What a process in the scene sees: the loopback Hub, and nothing of the user's own folders."""
    home = folder / "home"
    home.mkdir()
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "HF_ENDPOINT": hub.endpoint,
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "JAX_PLATFORMS": "cpu",
        **compiler_environment(),
    }
