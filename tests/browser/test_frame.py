"""The frame of the page: tabs and their addresses, loading a model, pictures of every tab."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import THEMES, WIDTHS, take_screenshot

# Tab -> something that is there once the tab is drawn. Gates and Results have tests of their own that draw them.
DRAWN = {"Generate": ("#cards .facts", "nats/byte"), "About": ("#about table", "Generators")}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", DRAWN)
def test_an_address_opens_its_tab_without_overflow(open_page, name, width, theme):
    page = open_page(f"?tab={name.lower()}", width=width, theme=theme)
    expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")
    place, text = DRAWN[name]
    expect(page.locator(place).first).to_contain_text(text)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    take_screenshot(page, f"{name.lower()}-{width}-{theme}")


def test_the_address_follows_the_tab(open_page):
    page = open_page("?seed=7")
    page.get_by_role("tab", name="About", exact=True).click()
    page.wait_for_url("**tab=about**")
    assert "seed=7" in page.url
    page.reload()
    expect(page.get_by_role("tab", name="About", exact=True)).to_have_attribute("aria-selected", "true")


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
