"""The shape of the project: who imports whom, and what the documents promise."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FORBIDDEN = {"tipshare": {"training", "app", "gradio", "optax"}, "training": {"app", "gradio"}}


def imported_names(file: Path) -> set[str]:
    """First parts of everything a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", FORBIDDEN)
def test_packages_import_only_downward(package):
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for file in files:
        assert not imported_names(file) & FORBIDDEN[package], file.relative_to(ROOT)


def test_importing_the_library_is_light():
    code = "import sys, tipshare; print([m for m in ('transformers', 'torch', 'gradio', 'scipy') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "gradio" not in run.stdout
    assert "torch" not in run.stdout
    assert "transformers" not in run.stdout


def test_every_dependency_is_justified_and_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {re.split(r"[<>=\[]", line)[0] for group in groups for line in group}
    why = (ROOT / "CONTRIBUTING.md").read_text()
    pins = (ROOT / "requirements.txt").read_text() + (ROOT / "requirements-dev.txt").read_text()
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in pins.splitlines() if "==" in line}
    for name in names:
        assert re.search(rf"^\|.*\b{name}\b.*\|", why, re.MULTILINE), f"{name} is not explained in CONTRIBUTING.md"
        # torch is pinned in its extra; trackio is for those who ask for it, and no part of what is tested.
        assert name in pinned | {"torch", "trackio"}, f"{name} is not pinned"


def test_requirements_name_no_index():
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            assert re.fullmatch(r"#.*|-r requirements\.txt|[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+", line), line
