"""Every command and every piece of Python that README and docs show runs, in a small scene."""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest

from tests.app.models import save_tiny_models
from tests.app.server import running_demo
from tests.docs.pages import ROOT, blocks, mentioned_flags, mentions, pages, tutorials, verb_and_flags
from tests.docs.scene import Scene, build_scene
from tests.hub.server import running_hub

pytestmark = pytest.mark.slow

PAGE = "http://127.0.0.1:7860"


def shown_commands() -> list:
    """Every shell command outside of tutorials, once, with the first page that shows it."""
    found: dict[str, str] = {}
    for page in (page for page in pages() if page not in tutorials()):
        for block in blocks(page, "sh"):
            for command in block.commands:
                found.setdefault(command, page)
    return [pytest.param(command, id=f"{page}: {command}") for command, page in found.items()]


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Iterator[Scene]:
    """A scene with a served page, a finished run and a checkpoint on the Hub, for all commands."""
    folder = tmp_path_factory.mktemp("scene")
    served = save_tiny_models(folder / "served")
    with running_hub() as hub, running_demo(served, folder / "demo.log") as page:
        scene = build_scene(folder / "checkout", hub, page.address)
        scene.run("python -m training train quick --model time-indexed-ssm")
        scene.run("python -m training push RUN --repo org/name")
        yield scene


@pytest.mark.parametrize("command", shown_commands())
def test_a_shown_command_runs(command, scene):
    words = shlex.split(command)
    if words[0] == "make":
        subprocess.run(["make", "--dry-run", *words[1:]], check=True, cwd=ROOT, capture_output=True)
    elif words[:2] == ["pip", "install"]:
        check_install(words[2:])
    elif words[0] in ("python", "tipshare"):
        scene.reset()
        scene.run(command)
    else:
        pytest.fail(f"this test does not know how to run {command!r}")


def check_install(arguments: list[str]) -> None:
    """What `pip install` names is this package, from the index or the checkout, with extras that it has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (target,) = (each for each in arguments if not each.startswith("-"))
    name, _, extras = target.rstrip("]").partition("[")
    assert name in (".", project["name"]), target
    assert ("-e" in arguments) == (name == "."), "an editable install is one of the checkout"
    assert set(filter(None, extras.split(","))) <= set(project["optional-dependencies"]), target


@pytest.mark.parametrize("page", [page for page in pages() if blocks(page, "python") and page not in tutorials()])
def test_the_python_on_a_page_runs_in_order(page, scene):
    scene.run_python("\n".join(block.code for block in blocks(page, "python")).replace(PAGE, scene.address))


@pytest.mark.parametrize("page", [page for page in pages() if mentions(page)])
def test_a_command_in_a_sentence_knows_its_verb_and_flags(page, scene):
    for command in mentions(page):
        program, verb, flags = verb_and_flags(command)
        if program == ["make"]:
            subprocess.run(["make", "--dry-run", str(verb)], check=True, cwd=ROOT, capture_output=True)
        elif program == ["pip"]:
            check_install(shlex.split(command)[2:])
        else:
            module = "tipshare" if program == ["tipshare"] else program[2]
            shown = show_help(scene, module, *([verb] if verb else []))
            for flag in flags:
                assert flag in shown, f"{command}: there is no {flag}"


def test_a_flag_in_a_sentence_is_one_of_training_or_of_the_crowd(scene):
    shown = "".join(show_help(scene, "training", verb) for verb in ("train", "sweep", "finetune", "report"))
    shown += show_help(scene, "tests.load")
    found = {flag for page in pages() for flag in mentioned_flags(page)}
    assert "--data-dir" in found
    for flag in found:
        assert re.search(rf"{flag}(?![\w-])", shown), f"there is no {flag}"


def show_help(scene: Scene, module: str, *verb: str) -> str:
    """What a command says to --help."""
    words = [sys.executable, "-m", module, *verb, "--help"]
    shown = subprocess.run(words, cwd=scene.folder, env=scene.environment, capture_output=True, text=True)
    assert shown.returncode == 0, f"{shlex.join(words[1:])}: {shown.stderr}"
    return shown.stdout
