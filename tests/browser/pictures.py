"""`python -m tests.browser.pictures`: the README's pictures of the page, taken anew on the bundled checkpoints."""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.app.server import ROOT, running_demo
from tests.browser import test_gates, test_results
from tests.browser.conftest import CHROMIUM, FLAGS, PATIENCE

FOLDER = ROOT / "docs"
# The tabs that README and docs show.
PICTURED = ("generate", "gates", "results", "about")
WIDTH, HEIGHT = 1280, 1080
PROMPT = " The history of"


def main() -> None:
    """Open these tabs, use the one that writes, and save what a visitor sees first."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        optimized = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "0"}
        with running_demo(ROOT / "checkpoints", Path(scratch) / "demo.log", **optimized) as server:
            server.wait_for("first byte of")
            browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
            page.set_default_timeout(PATIENCE)
            for tab in PICTURED:
                page.goto(f"{server.address}/?tab={tab}&__theme=light")
                show(page, tab)
                page.screenshot(path=FOLDER / f"{tab}.png", animations="disabled")
                print(f"{(FOLDER / tab).relative_to(ROOT)}.png")
            browser.close()


def show(page: Page, tab: str) -> None:
    """Bring a tab into the state of its picture."""
    page.get_by_role("tablist").first.wait_for()
    if tab == "generate":
        expect(page.locator("#cards .facts").first).to_contain_text("nats/byte")
        page.locator("#prompt textarea").fill(PROMPT)
        page.locator("#go").click()
        expect(page.locator("#line")).to_contain_text("Finished")
    elif tab == "gates":
        test_gates.wait_for_figures(page)
    elif tab == "results":
        test_results.wait_for_figures(page)
    else:
        expect(page.locator("#about table").first).to_contain_text("Generators")


if __name__ == "__main__":
    main()
