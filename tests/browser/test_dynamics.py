"""The Dynamics tab in a real browser: every view draws for every kind, bytes can be chosen, and links reopen a view."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDTHS, query_of, take_screenshot
from tests.browser.measure import nothing_moves
from tipshare.kinds import LOOKS

FIGURES = ("eigenvalues", "magnitudes", "lens", "updates", "alignment")


def wait_for_figures(page: Page) -> None:
    for name in FIGURES:
        expect(page.locator(f"#dynamics-{name} .js-plotly-plot .main-svg").first).to_be_visible()


def test_every_view_draws_for_every_kind(open_page):
    page = open_page("?tab=dynamics&text=to+be")
    wait_for_figures(page)
    told = page.locator("#dynamics-spectra-words")
    panels = page.locator("#dynamics-eigenvalues .infolayer")
    for title in (look.title for look in LOOKS.values()):
        expect(told).to_contain_text(f"{title}: The mean magnitude of the eigenvalues of value-output")
        expect(panels).to_contain_text(f"{title}t = 0.50")
        page.locator("#dynamics-model input").click()
        page.get_by_role("option", name=title, exact=True).click()
        for name in ("text", "lens", "stream"):
            expect(page.locator(f"#dynamics-{name}-words")).to_contain_text(f"{title}:")
        expect(page.locator("#dynamics-text button[data-place]")).to_have_count(6)
    take_screenshot(page, "dynamics")


def test_a_byte_is_chosen_and_a_link_reopens_the_view(open_page):
    page = open_page("?tab=dynamics&model=standard&text=to+be&t=1.0&product=query-key")
    wait_for_figures(page)
    expect(page.locator("#dynamics-eigenvalues .infolayer")).to_contain_text("Neural ODEt = 1.00")
    chosen = page.locator("#dynamics-text button.chosen")
    expect(chosen).to_have_attribute("data-place", "5")
    before = page.locator("#dynamics-text-words").inner_text()
    page.locator("#dynamics-text button[data-place='2']").click()
    expect(chosen).to_have_attribute("data-place", "2")
    expect(page.locator("#dynamics-text button.later")).to_have_count(3)
    expect(page.locator("#dynamics-text-words")).not_to_have_text(before)
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_url("**place=2**")
    again = open_page(query_of(page))
    expect(again.locator("#dynamics-text button.chosen")).to_have_attribute("data-place", "2")
    expect(again.locator("#dynamics-text-words")).to_contain_text("Standard:")
    expect(again.locator("#dynamics-spectra-words")).to_contain_text("eigenvalues of query-key")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_tab_fits_the_page_and_errors_are_in_words(open_page, width):
    page = open_page("?tab=dynamics&text=to+be", width=width)
    with nothing_moves(page):
        wait_for_figures(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    take_screenshot(page, f"dynamics-{width}")
    titles = [each.bounding_box() for each in page.locator("#dynamics-eigenvalues .annotation").all()]
    planes = [each.bounding_box() for each in page.locator("#dynamics-eigenvalues .bglayer .bg").all()]
    assert titles[0]["x"] + titles[0]["width"] < titles[1]["x"]  # beside each other
    for title, plane in zip(titles, planes, strict=True):
        assert 0 < plane["y"] - title["y"] - title["height"] + 6 < 40  # each on top of its plane
    page.locator("#dynamics-input textarea, #dynamics-input input").first.fill("")
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("There is no text: give at least one character")).to_be_visible()
