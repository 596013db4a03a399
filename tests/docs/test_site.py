"""The site builds without a warning, shows every page, and asks no other host for anything."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import tipshare
import tipshare.analysis
from tests.browser.conftest import CHROMIUM, FLAGS, PATIENCE
from tests.docs.pages import ROOT

pytestmark = pytest.mark.slow

# Links that a reader follows may lead anywhere; these load something when a page is viewed.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}

# Pages that are viewed at once: each is waited for until it has asked for nothing for half a second.
TABS = 8


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; a warning, such as a dead link or a name without a docstring page, fails the build."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class LoadedAddresses(HTMLParser):
    """Gathers what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name == LOADED.get(tag) and value]


def test_every_page_is_in_the_navigation(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    front = (site / "index.html").read_text(encoding="utf-8")
    for page in pages:
        assert (site / page).is_file()
        assert f'href="{page}"' in front or page == Path("index.html"), f"{page} is not in the navigation"


def test_no_page_loads_anything_from_another_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 10
    for page in pages:
        parser = LoadedAddresses()
        parser.feed(page.read_text(encoding="utf-8"))
        assert parser.found
        outside = [each for each in parser.found if re.match(r"(https?:)?//", each)]
        assert outside == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    """The site served on this machine."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


def test_a_browser_that_views_every_page_and_searches_asks_this_machine_alone(site, address):
    if not CHROMIUM.exists() and not os.environ.get("CI"):
        pytest.skip(f"no browser at {CHROMIUM}: install Debian's chromium, or set CHROMIUM to another one's path")
    # In a thread of its own: Playwright refuses to start where another browser's event loop is running.
    with ThreadPoolExecutor(max_workers=1) as thread:
        asked = thread.submit(addresses_asked_for, site, address).result()
    assert len(asked) > 20
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def addresses_asked_for(site: Path, address: str) -> list[str]:
    """Every address that a browser asks for on all pages and in a search."""
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        context = browser.new_context()
        context.set_default_timeout(4 * PATIENCE)
        context.on("request", lambda request: asked.append(request.url))
        tabs = [context.new_page() for _ in range(TABS)]
        paths = sorted(site.rglob("*.html"))
        for first in range(0, len(paths), TABS):
            opened = list(zip(tabs, paths[first : first + TABS], strict=False))
            for tab, path in opened:
                tab.goto(f"{address}/{path.relative_to(site)}", wait_until="commit")
            for tab, _ in opened:
                tab.wait_for_load_state("networkidle")
        page = tabs[0]
        page.goto(f"{address}/index.html?q=gates")  # as if typed into the search field
        page.locator(".md-search-result__item").first.wait_for(state="attached")
        browser.close()
    return asked


def test_the_reference_has_every_public_name(site):
    reference = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    tables = {"KINDS", "PRESETS"}
    for module in (tipshare, tipshare.analysis):
        for name in set(module.__all__) - tables:
            assert f'id="{module.__name__}.{name}"' in reference, f"{module.__name__}.{name} is not in the reference"
