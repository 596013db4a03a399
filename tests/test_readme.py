"""The README: short, with the front matter of a Space, and without dead links. What it shows runs in `tests/docs`."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.docs.pages import OUTSIDE, ROOT, pages, read

LONGEST = 150
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def test_the_readme_is_short():
    assert len(read("README.md").splitlines()) <= LONGEST


def test_the_front_matter_is_what_a_space_needs():
    front = re.match(r"---\n(.*?)\n---\n", read("README.md"), re.DOTALL)
    assert front
    fields = yaml.safe_load(front[1])
    assert fields["sdk"] == "gradio"
    assert (ROOT / fields["app_file"]).exists()
    assert f"gradio=={fields['sdk_version']}" in (ROOT / "requirements.txt").read_text().splitlines()
    assert len(fields["short_description"]) <= 60


@pytest.mark.parametrize("page", [page for page in pages() if LINK.search(read(page))])
def test_links_lead_to_files_that_exist(page):
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(text):
        if "://" not in target and not target.startswith("#"):
            place = (ROOT / page).parent / target.partition("#")[0]
            assert place.exists(), f"{page} links to {target}"
            # The site holds only the folder docs; a link out of it would be dead there.
            assert page in OUTSIDE or Path(place).resolve().is_relative_to(ROOT / "docs"), f"{page} links to {target}"


def test_the_citation_is_of_this_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r'^__version__ = "(.*)"$', (ROOT / "tipshare" / "__init__.py").read_text(), re.MULTILINE)
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"].startswith(f"{project['name']}:")
    assert version
    assert citation["version"] == version[1]
    assert citation["license"] == project["license"]
