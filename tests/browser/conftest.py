"""A real browser on a running demo; console errors and requests to other hosts fail the test."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.app.models import save_tiny_models
from tests.app.server import Server, running_demo

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SCREENSHOTS = Path(__file__).parent / "screenshots"
WIDTHS = (1280, 390)
THEMES = ("light", "dark")

OpenPage = Callable[..., Page]

# Milliseconds; long enough for a busy machine, and only ever waited for in full by a test that fails.
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium. Where there is none the tests are skipped, but never in continuous integration."""
    if not CHROMIUM.exists():
        reason = f"no browser at {CHROMIUM}: install Debian's chromium, or set CHROMIUM to another one's path"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """The demo on tiny models of the four kinds."""
    folder = tmp_path_factory.mktemp("demo")
    checkpoints = save_tiny_models(folder / "checkpoints")
    with running_demo(checkpoints, folder / "demo.log", ("-m", "tests.app.held_demo")) as running:
        yield running


@pytest.fixture
def open_page(browser, server) -> Iterator[OpenPage]:
    """`open_page("?tab=gates", width=390, theme="dark")`: a page that is ready to use.

    Give `address` for another server than the shared one, and a `script` that runs before those of the page.
    """
    problems: list[str] = []
    contexts = []

    def opened(
        query: str = "", *, width: int = 1280, theme: str = "light", address: str = server.address, script: str = ""
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, accept_downloads=True, color_scheme=theme, reduced_motion="reduce"
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        watch(page, address, problems)
        page.add_init_script(script)
        mark = "&" if query else "?"
        page.goto(f"{address}/{query}{mark}__theme={theme}")
        page.get_by_role("tablist").first.wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not problems, "\n".join(problems)


@pytest.fixture
def hold(server) -> Iterator[Path]:
    """The file that says after how many bytes models wait, and after how many training steps runs do."""
    yield server.hold
    server.hold.unlink(missing_ok=True)


def watch(page: Page, address: str, problems: list[str]) -> None:
    """Note what must not happen on a page."""

    def on_console(message) -> None:
        if message.type == "error":
            problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def on_error(error: Error) -> None:
        problems.append(f"uncaught: {error}")

    def on_request(request) -> None:
        if not re.match(rf"{re.escape(address)}/|data:|blob:", request.url):
            problems.append(f"request to another host: {request.url}")

    page.on("console", on_console)
    page.on("pageerror", on_error)
    page.on("request", on_request)


def query_of(page: Page) -> str:
    """What is chosen, from the page's address: all but the theme, which `open_page` adds itself."""
    return "?" + re.sub(r"&?__theme=\w+", "", page.url.partition("?")[2])


def take_screenshot(page: Page, name: str) -> Path:
    """A picture of the whole page, for people to look at."""
    SCREENSHOTS.mkdir(exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, full_page=True, animations="disabled")
    return path
