"""An environment with the packages of one extra and no others, made of links, without an installer or a network."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.compiling import compiler_environment

ROOT = Path(__file__).parents[2]
# Without -S Python would add its own site-packages, in which everything lies.
START = """
import runpy, sys
_, path, *sys.argv = sys.argv
sys.path[:0] = path.split(":")
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def declared(extra: str | None = None) -> list[Requirement]:
    """What pyproject.toml asks for, for the library alone or with an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + (project["optional-dependencies"][extra] if extra else [])
    return [Requirement(line) for line in lines]


def closure(requirements: Iterable[Requirement]) -> dict[str, Distribution]:
    """The distributions that an installer would bring, by their normalised names."""
    found: dict[str, Distribution] = {}
    waiting, seen = list(requirements), set()
    while waiting:
        requirement = waiting.pop()
        name = normalised(requirement.name)
        found[name] = distribution(name)
        for extra in {"", *requirement.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            needed = (Requirement(line) for line in found[name].requires or ())
            waiting += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": extra})]
    return found


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def link_packages(distributions: Iterable[Distribution], folder: Path) -> Path:
    """A folder in which each distribution's packages and metadata are links to where they are installed."""
    folder.mkdir()
    for each in distributions:
        # Scripts lie outside of site-packages, as ../../../bin/name.
        for name in {file.parts[0] for file in each.files or () if file.parts[0] not in ("..", "__pycache__")}:
            link = folder / name
            if not link.exists():
                link.symlink_to(Path(str(each.locate_file(name))), target_is_directory=True)
    return folder


def run_script(script: Path, *arguments: str, packages: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with the standard library, the linked packages and this project in reach."""
    path = ":".join([str(ROOT), str(packages)])
    # No process may look at the variables that name other places.
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "JAX_PLATFORMS": "cpu"}
    environment |= {"HF_HUB_DISABLE_TELEMETRY": "1", **compiler_environment()}
    return subprocess.run(
        [sys.executable, "-S", "-E", "-c", START, path, str(script), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )
