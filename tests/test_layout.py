"""The shape of the project: who imports whom, what is declared, and what the documents promise."""

import ast
import functools
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.extras.environment import declared, normalised

ROOT = Path(__file__).parent.parent
PACKAGES = ("tipshare", "training", "app")
TABS = sorted(file.parent.name for file in ROOT.glob("app/*/tab.py"))

# What every room may import of ours when it is imported itself. A room is a folder or a file directly under a package;
# a name without a room, such as "tipshare", stands for the whole package.
ROOMS: dict[str, tuple[str, ...]] = {
    # The library, from the plain to the composed.
    "tipshare.validation": (),
    "tipshare.files": (),
    "tipshare.text": (),
    "tipshare.config": ("tipshare.text", "tipshare.validation"),
    "tipshare.presets": ("tipshare.config",),
    "tipshare.kinds": ("tipshare.config",),
    "tipshare.compilation": (),
    "tipshare.model": ("tipshare.config", "tipshare.text", "tipshare.validation"),
    "tipshare.analysis": ("tipshare.config", "tipshare.model", "tipshare.text", "tipshare.validation"),
    "tipshare.generation": ("tipshare.config", "tipshare.model", "tipshare.text", "tipshare.validation"),
    "tipshare.checkpoint": (
        *("tipshare.config", "tipshare.files", "tipshare.kinds", "tipshare.model", "tipshare.text"),
        "tipshare.generation",  # generation_config.json holds the defaults of sampling
        "tipshare.analysis",  # tuned_lens.safetensors holds a lens
    ),
    "tipshare.adapters": (
        *("tipshare.config", "tipshare.files", "tipshare.kinds", "tipshare.model", "tipshare.validation"),
        "tipshare.checkpoint",
    ),
    "tipshare.transformers": ("tipshare.config", "tipshare.checkpoint"),
    "tipshare.commands": ("tipshare",),
    "tipshare.__main__": ("tipshare",),
    "tipshare.__init__": ("tipshare",),
    # Training: recipes in, records out.
    "training.recipes": ("tipshare",),
    "training.data": ("tipshare",),
    "training.results": ("tipshare", "training.recipes"),
    "training.engine": ("tipshare", "training.data", "training.recipes", "training.results"),
    "training.finetune": ("tipshare", "training.data", "training.engine", "training.recipes"),
    "training.report": ("tipshare", "training.recipes", "training.results"),
    "training.publish": ("tipshare", "training.recipes", "training.results"),
    "training.benchmarks": ("tipshare", "training.engine", "training.recipes"),
    "training.commands": ("tipshare", "training"),
    "training.__main__": ("training",),
    # The page: a room per tab, and what all tabs share. Only what puts the page together knows every tab.
    "app.controls": (),
    "app.places": (),
    "app.errors": (),
    "app.links": ("app.errors",),
    "app.events": (),
    "app.style": ("tipshare",),
    "app.plot_style": ("tipshare", "app.style"),
    "app.shelf": ("tipshare", "training.results"),
    **{
        f"app.{tab}": (
            *("tipshare", "training.results"),
            *("app.controls", "app.errors", "app.events", "app.links", "app.places", "app.plot_style"),
            *("app.shelf", "app.style"),
            *(("training.data", "training.engine", "training.recipes") if tab == "train" else ()),
        )
        for tab in TABS
    },
    "app.turns": (),
    "app.door": (),
    "app.leaving": (),
    "app.header": ("app",),
    "app.preview": ("app", "tipshare", "training.results"),
    "app.document": ("app",),
    "app.warm_up": ("app", "tipshare"),
    "app.page": ("app",),
    "app.serve": (),
}
# What a room may import besides, inside of a function: methods of a model that another room carries out, and figures
# that are drawn for a download.
WHEN_CALLED: dict[str, tuple[str, ...]] = {
    "tipshare.config": ("tipshare.model",),
    "tipshare.model": ("tipshare.analysis", "tipshare.generation", "tipshare.kinds"),
    "tipshare.checkpoint": ("tipshare.adapters",),  # a folder may be an adapter of another one
    "app.results": ("training.report",),
    "app.serve": ("app", "tipshare"),
}

# Extras whose packages a package of ours may import at its top, and those it may import inside of functions.
EXTRAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "tipshare": ((), ("transformers", "train")),
    "training": (("train",), ("bench", "track")),
    "app": (("app",), ()),
}
# A module that is for those who have one extra.
FOR_ONE_EXTRA = {"tipshare/transformers.py": "transformers"}
# Packages that one we declare is made of or promises to bring.
COMES_WITH = dict.fromkeys(("gradio-client", "httpx", "fastapi", "starlette"), "gradio")


class Import(NamedTuple):
    """One import statement: where it stands, what it names, and whether it waits for a function to be called."""

    file: Path
    name: str
    when_called: bool


@functools.cache
def imports_of(package: str) -> tuple[Import, ...]:
    """Every import in a package; those for type checkers alone are left out, for nothing executes them."""
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    return tuple(each for file in files for each in _imports(file, ast.parse(file.read_text()), when_called=False))


def _imports(file: Path, node: ast.AST, *, when_called: bool) -> list[Import]:
    if isinstance(node, ast.Import):
        return [Import(file, alias.name, when_called) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert not node.level, f"{file.relative_to(ROOT)}: imports are absolute"
        return [Import(file, f"{node.module}.{alias.name}", when_called) for alias in node.names]
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return []
    inside = when_called or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    return [found for child in ast.iter_child_nodes(node) for found in _imports(file, child, when_called=inside)]


def room_of(name: str) -> str:
    """The room of a module: `tipshare.model` for `tipshare.model.block.Block`."""
    package, *rest = name.split(".")
    is_room = rest and any((ROOT / package / f"{rest[0]}{end}").exists() for end in ("", ".py"))
    return f"{package}.{rest[0]}" if is_room else package


def is_allowed(wanted: str, allowed: tuple[str, ...]) -> bool:
    return wanted in allowed or wanted.split(".")[0] in allowed


def test_packages_import_only_downward():
    for package in PACKAGES:
        above = PACKAGES[PACKAGES.index(package) + 1 :]
        for each in imports_of(package):
            assert each.name.split(".")[0] not in above, f"{each.file.relative_to(ROOT)} imports {each.name}"


def test_rooms_import_only_what_the_table_allows():
    against: set[tuple[str, str]] = set()
    for each in (found for package in PACKAGES for found in imports_of(package)):
        if each.name.split(".")[0] not in PACKAGES:
            continue
        room = room_of(".".join(each.file.relative_to(ROOT).with_suffix("").parts))
        allowed = ROOMS.get(room, ()) + (WHEN_CALLED.get(room, ()) if each.when_called else ())
        if room_of(each.name) != room and not is_allowed(room_of(each.name), allowed):
            against.add((room, room_of(each.name)))
    assert against == set(), "against the table of rooms"


def test_every_room_is_in_the_table():
    places = [place for package in PACKAGES for place in (ROOT / package).iterdir()]
    modules = {f"{place.parent.name}.{place.stem}" for place in places if place.suffix == ".py"}
    folders = {f"{place.parent.name}.{place.name}" for place in places if (place / "__init__.py").exists()}
    empty = {"training.__init__", "app.__init__"}
    assert (modules | folders) - empty == set(ROOMS)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_import_is_declared(package):
    """A package that only happens to be installed is missing on someone else's machine."""
    at_top, when_called = EXTRAS[package]
    owners = packages_distributions()
    for each in imports_of(package):
        module = each.name.split(".")[0]
        if module in sys.stdlib_module_names or module in PACKAGES:
            continue
        file = each.file.relative_to(ROOT).as_posix()
        extras = {*at_top, *(when_called if each.when_called else ()), FOR_ONE_EXTRA.get(file)} - {None}
        names = {normalised(one.name) for extra in (None, *extras) for one in declared(extra)}
        # What is not installed here, such as torch, goes by its module's name.
        found = {normalised(name) for name in owners.get(module, [module])}
        found |= {COMES_WITH[name] for name in found if name in COMES_WITH}
        assert found & names, f"{file} imports {module}, which none of {sorted(extras)} declares"


@pytest.mark.slow
def test_the_page_draws_no_figure_with_matplotlib_until_one_is_downloaded():
    code = "import sys, app.page; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout == "False\n"


def test_importing_the_library_is_light():
    heavy = ("transformers", "torch", "gradio", "scipy", "matplotlib", "optax", "huggingface_hub", "tyro")
    code = f"import sys, tipshare; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout == "[]\n"


def test_every_dependency_is_justified_and_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {re.split(r"[<>=\[]", line)[0] for group in groups for line in group}
    why = (ROOT / "CONTRIBUTING.md").read_text()
    pins = (ROOT / "requirements.txt").read_text() + (ROOT / "requirements-dev.txt").read_text()
    pinned = {normalised(line.split("==")[0]) for line in pins.splitlines() if "==" in line}
    for name in names:
        explained = re.search(rf"^\|[^|]*(?<![\w-]){re.escape(name)}(?![\w-])[^|]*\|", why, re.MULTILINE)
        assert explained, f"{name} is not explained in CONTRIBUTING.md"
        # torch is pinned in its extra; trackio is for those who ask for it, and no part of what is tested.
        assert name in pinned | {"torch", "trackio"}, f"{name} is not pinned"


def test_requirements_name_no_index():
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            assert re.fullmatch(r"#.*|-r requirements\.txt|[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+", line), line
