"""`python -m tests.browser.measure`: numbers about the page that a visitor feels, on the bundled checkpoints.

For the address of every tab its layout shift (0.1 is where it begins to disturb) and what is transferred; and the time
from a click on a tab to what it shows first, once the page is warm.
"""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from app.page import TABS
from tests.app.server import ROOT, running_demo
from tests.browser.conftest import CHROMIUM, FLAGS, PATIENCE, WIDTHS

# What tells that a tab has been drawn. Milliseconds without a change after which nothing moves any more.
FIRST = {
    "generate": "#cards .facts",
    "gates": "#gates-heat-map .main-svg",
    "dynamics": "#dynamics-eigenvalues .main-svg",
    "train": "#train-losses .main-svg",
    "results": "#results-loss_against_parameters .main-svg",
    "about": "#about table",
}
QUIET = 2_000
# Shifts within half a second of an input are the visitor's own doing, and do not count.
OBSERVE = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts.push(each.value);
  }).observe({type: "layout-shift", buffered: true});
}"""
TRANSFERRED = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, each) => sum + each.transferSize, 0)"""


@contextlib.contextmanager
def nothing_moves(page: Page) -> Iterator[None]:
    """What is drawn in this block has its place from the beginning."""
    page.evaluate(OBSERVE)
    yield
    page.wait_for_function("document.querySelectorAll('.progress-text').length === 0")
    assert page.evaluate("window.shifts.reduce((sum, each) => sum + each, 0)") < 0.1


def main() -> None:
    """Print a table per width, then the times of clicks."""
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        optimized = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "0"}
        with running_demo(ROOT / "checkpoints", Path(scratch) / "demo.log", **optimized) as server:
            server.wait_for("first byte of")
            browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
            for width in WIDTHS:
                print(f"{width} wide      layout shift   transferred")
                for tab in TABS:
                    shift, size = open_address(browser, f"{server.address}/?tab={tab}", FIRST.get(tab), width)
                    print(f"{tab:14} {shift:12.3f} {size / 1e6:10.2f} MB", flush=True)
            page = new_page(browser, WIDTHS[0])
            page.goto(server.address)
            for _ in range(2):  # the first round warms everything up
                times = {tab: seconds_to_first(page, title, FIRST.get(tab)) for tab, (title, _) in TABS.items()}
            print("from a click to what a tab shows first")
            for tab, seconds in times.items():
                print(f"{tab:14} {seconds:12.2f} s")
            browser.close()


def new_page(browser: Browser, width: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    return page


def open_address(browser: Browser, address: str, first: str | None, width: int) -> tuple[float, float]:
    """Layout shift and bytes transferred, from an empty cache until nothing moves any more."""
    page = new_page(browser, width)
    page.goto(address)
    page.evaluate(OBSERVE)
    page.locator(first or "#tabs").first.wait_for()
    count = -1
    while (seen := page.evaluate("window.shifts.length")) != count:
        count = seen
        page.wait_for_timeout(QUIET)
    found = sum(page.evaluate("window.shifts")), page.evaluate(TRANSFERRED)
    page.close()
    return found


def seconds_to_first(page: Page, title: str, first: str | None) -> float:
    began = time.perf_counter()
    page.get_by_role("tab", name=title, exact=True).click()
    page.locator(first or "#tabs").first.wait_for()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
