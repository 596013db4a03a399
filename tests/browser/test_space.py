"""The demo as it is pushed: from the Hub into an empty folder, started there, with every tab in a browser.

Instead of an installation of requirements.txt it runs in the environment of the tests.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.page import TABS
from tests.app.models import save_tiny_models
from tests.app.server import ROOT, Server, running_demo
from tests.browser.test_accessibility import wait_until_drawn
from tests.hub.server import TOKEN, running_hub
from training.publish.space import FILES, FOLDERS

CLONE = """
import sys
from huggingface_hub import snapshot_download
snapshot_download("org/demo", repo_type="space", local_dir=sys.argv[1])
"""
WHERE = "import app, tipshare, training; print(app.__file__, tipshare.__file__, training.__file__)"


@pytest.fixture(scope="module")
def space(tmp_path_factory) -> Iterator[Server]:
    """The Space, served from what the Hub has of it."""
    folder = tmp_path_factory.mktemp("space")
    project, clone = folder / "project", folder / "clone"
    for name in (*FOLDERS, *FILES, "README.md"):
        if name == "checkpoints":
            save_tiny_models(project / name)
        elif (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, project / name)
    with running_hub() as hub:
        settings = {**os.environ, "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN, "HF_HOME": str(folder / "hf-home")}
        settings |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "JAX_PLATFORMS": "cpu"}
        run(["-m", "training", "push-space", "org/demo"], project, settings)
        run(["-c", CLONE, str(clone)], folder, settings)
    for file in run(["-c", WHERE], clone, settings).split():
        assert Path(file).is_relative_to(clone)
    # Without a folder of checkpoints in the environment, the page takes those that came with it.
    with running_demo(Path(), folder / "demo.log", root=clone, TIPSHARE_CHECKPOINTS="") as running:
        yield running


def run(arguments: list[str], folder: Path, settings: dict[str, str]) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_tab_of_the_pushed_space_works(open_page, space):
    page = open_page(address=space.address)
    for title, _ in TABS.values():
        page.get_by_role("tab", name=title, exact=True).click()
        wait_until_drawn(page, title)
    expect(page.locator("#about table").first).to_contain_text("Generators")
    page.get_by_role("tab", name="Generate", exact=True).click()
    page.locator("#prompt textarea").fill("The history of")
    page.locator("#go").click()
    expect(page.locator("#line")).to_contain_text("Finished")
