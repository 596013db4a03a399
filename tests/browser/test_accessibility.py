"""The page for everybody: axe-core's rules on every tab, and the keyboard alone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser import test_dynamics, test_gates, test_results
from tests.browser.conftest import THEMES

GRAVE = ("serious", "critical")
# How often Tab is pressed to come to something; the page has fewer places than that.
MOST_TABS = 150


def wait_until_drawn(page: Page, tab: str) -> None:
    if tab == "Gates":
        test_gates.wait_for_figures(page)
    elif tab == "Dynamics":
        test_dynamics.wait_for_figures(page)
    elif tab == "Results":
        test_results.wait_for_figures(page)
    elif tab == "Generate":
        expect(page.locator("#cards .facts").first).to_contain_text("nats/byte")
    elif tab == "Train":
        expect(page.locator("#train-losses .main-svg").first).to_be_visible()


def violations(page: Page, tab: str, theme: str) -> list[str]:
    """What keeps somebody out, with the places where; themes differ in nothing but colours."""
    rules = {} if theme == THEMES[0] else {"runOnly": ["color-contrast"]}
    found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
    return [
        f"{tab}: {each['id']} at {node['target']}: {node.get('failureSummary', '')}"
        for each in found
        for node in each["nodes"][:6]
        if each["impact"] in GRAVE
    ]


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_serious_on_any_tab(open_page, theme):
    page = open_page(theme=theme)
    found = []
    for tab in ("Generate", "Gates", "Dynamics", "Train", "Results", "About"):
        page.get_by_role("tab", name=tab, exact=True).click()
        wait_until_drawn(page, tab)
        found += violations(page, tab, theme)
    assert not found, "\n".join(found)


def tab_to(page: Page, place: str) -> None:
    """Press Tab until something is focused, which must be seen to be."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("place => document.activeElement?.matches(place)", place):
            break
    assert page.evaluate(SEEN), f"the focus on {place} cannot be seen"


# Whether the focused element, or the label around it, has an outline of some width.
SEEN = """() => [document.activeElement, document.activeElement.closest("label")].some((each) => {
  const style = each && getComputedStyle(each);
  return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
})"""


def test_the_keyboard_alone_writes_and_reads_a_text(open_page):
    page = open_page()
    wait_until_drawn(page, "Generate")
    tab_to(page, "#prompt textarea")
    page.keyboard.type("The history of")
    tab_to(page, "#go, #go button")
    page.keyboard.press("Enter")
    expect(page.locator("#line")).to_contain_text("Finished")
    tab_to(page, "#cards .written")
    page.keyboard.press("End")
    marked = page.locator("#cards .written b.marked")
    expect(marked).to_have_count(1)
    last = marked.bounding_box()
    page.keyboard.press("ArrowUp")
    above = marked.bounding_box()
    assert above["y"] < last["y"]
    assert abs(above["x"] - last["x"]) < 20  # the line above, not the character before
    page.keyboard.press("ArrowDown")
    assert marked.bounding_box()["y"] == pytest.approx(last["y"], abs=1)
    expect(page.locator(".tip")).to_contain_text("bits")


def test_the_keyboard_alone_chooses_on_results(open_page):
    page = open_page("?tab=results")
    test_results.wait_for_figures(page)
    tab_to(page, "#results-source input")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#results-headline")).to_contain_text("Published after 1,000 steps")
    tab_to(page, "#results-models input")
    page.keyboard.press("Space")
    expect(page.locator("#results-models input:checked")).to_have_count(3)
    tab_to(page, "#results-loss-csv")
    with page.expect_download():
        page.keyboard.press("Enter")
