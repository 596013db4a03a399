"""The frame of the page: tabs and their addresses, loading a model, pictures of every tab."""

import contextlib

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import THEMES, WIDTHS, take_screenshot
from tests.browser.measure import nothing_moves
from tests.browser.test_accessibility import wait_until_drawn

# Tab -> something that is there once the tab is drawn. Gates and Results have tests of their own that draw them.
DRAWN = {"Generate": ("#cards .facts", "nats/byte"), "About": ("#about table", "Generators")}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", DRAWN)
def test_an_address_opens_its_tab_without_overflow(open_page, name, width, theme):
    page = open_page(f"?tab={name.lower()}", width=width, theme=theme)
    expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")
    place, text = DRAWN[name]
    # The cards of Generate are filled while texts are written.
    with contextlib.nullcontext() if name == "Generate" else nothing_moves(page):
        expect(page.locator(place).first).to_contain_text(text)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    take_screenshot(page, f"{name.lower()}-{width}-{theme}")


# Note every tab that was open at any moment, however short.
WATCH = """
window.opened = new Set();
new MutationObserver(() => {
  const tab = document.querySelector("#tabs [role=tab][aria-selected=true]");
  if (tab) window.opened.add(tab.textContent.trim());
}).observe(document, {subtree: true, childList: true, attributes: true});
"""


@pytest.mark.parametrize("written", ["About", "ABOUT", "about"])
def test_the_tab_that_was_asked_for_is_open_from_the_first_moment(open_page, written):
    page = open_page(f"?tab={written}", script=WATCH)
    expect(page.locator("#about table").first).to_contain_text("Generators")
    assert page.evaluate("[...window.opened]") == ["About"]
    assert "tab=about" in page.url


@pytest.mark.parametrize("width", WIDTHS)
def test_back_and_forward_move_between_tabs(open_page, width):
    page = open_page("?seed=7", width=width)
    selected = page.locator("#tabs [role=tab][aria-selected=true]")
    go_to(page, "Gates")
    page.wait_for_url("**tab=gates**")
    assert "seed=7" not in page.url  # what is chosen on Generate is no part of a link to Gates
    go_to(page, "About")
    page.wait_for_url("**tab=about**")
    for step, name in (("back", "Gates"), ("back", "Generate"), ("forward", "Gates"), ("forward", "About")):
        page.evaluate(f"history.{step}()")
        expect(selected).to_have_text(name)
        assert ("seed=7" in page.url) == (name == "Generate")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["Gates", "Train", "Results"])
def test_nothing_moves_while_a_tab_is_drawn(open_page, name, width):
    """For About see above, for Dynamics its own tests."""
    page = open_page(f"?tab={name.lower()}", width=width)
    with nothing_moves(page):
        wait_until_drawn(page, name)


def go_to(page: Page, name: str) -> None:
    """Open a tab as a visitor does; on a phone it may be in the menu of those that have no room."""
    tab = page.get_by_role("tab", name=name, exact=True)
    if not tab.is_visible():
        page.get_by_label("More tabs").click()
        tab = page.locator(".overflow-dropdown").get_by_text(name, exact=True)
    tab.click()


def test_a_bad_hub_id_is_told_in_words(open_page):
    page = open_page()
    page.get_by_text("Load a model from the Hub").click()
    page.locator("#source").get_by_role("textbox").fill("<b>not a model</b>")
    page.get_by_role("button", name="Load", exact=True).click()
    toast = page.get_by_test_id("toast-body")
    expect(toast).to_contain_text("'<b>not a model</b>' is neither a Hub id of the form organisation/name")
    assert toast.locator("b", has_text="not a model").count() == 0
    take_screenshot(page, "error")


def test_a_model_is_loaded_by_its_name(open_page):
    page = open_page()
    page.get_by_text("Load a model from the Hub").click()
    page.locator("#source").get_by_role("textbox").fill("neural-ode")
    page.locator("#source").get_by_role("textbox").press("Enter")
    expect(page.locator("#load-note")).to_contain_text("Loaded: Neural ODE")
