"""The Gates tab in a real browser: every view draws for every kind."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import THEMES, WIDTHS, take_screenshot
from tipshare.kinds import LOOKS

FIGURES = ("heat-map", "curves", "distributions", "at-depth", "similarity", "norms", "predictions", "path")


def wait_for_figures(page: Page) -> None:
    for name in FIGURES:
        # The first view of each kind compiles what it needs.
        expect(page.locator(f"#gates-{name} .js-plotly-plot .main-svg").first).to_be_visible()


def choose(page: Page, control: str, option: str) -> None:
    page.locator(f"#gates-{control} input").click()
    page.get_by_role("option", name=option, exact=True).click()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_tab_is_drawn_within_the_page(open_page, width, theme):
    page = open_page("?tab=gates", width=width, theme=theme)
    wait_for_figures(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in FIGURES:
        inner = page.locator(f"#gates-{name} .main-svg").first.bounding_box()
        outer = page.locator(f"#gates-{name}").bounding_box()
        assert inner["width"] <= outer["width"] + 1, name
    take_screenshot(page, f"gates-drawn-{width}-{theme}")


def test_every_view_draws_for_every_kind(open_page):
    page = open_page("?tab=gates")
    wait_for_figures(page)
    words, path_words = page.locator("#gates-words"), page.locator("#gates-path-words")
    for kind, title in ((kind, look.title) for kind, look in LOOKS.items()):
        choose(page, "model", title)
        expect(words).to_contain_text(f"in {title} ")
        expect(path_words).to_contain_text(f"{title} predicts")
        expect(page.locator("#gates-heat-map .infolayer")).to_contain_text(title)
        expect(page.locator("#gates-predictions .infolayer")).to_contain_text(title)
        told = words.inner_text()
        assert ("has no gates" in told) == (not kind.startswith("time-indexed"))
        page.locator("#gates-place input").click()
        offered = page.get_by_role("option").all_inner_texts()
        page.get_by_role("option", name="attention output", exact=True).click()
        expect(words).to_contain_text("of attention output in")
        assert any("A (decay)" in each for each in offered) == (kind == "time-indexed-ssm")
    wait_for_figures(page)
    # Each place of the state-space model, the last one chosen.
    for place in ("A (decay)", "B (into the state)", "C (out of the state)", "D (skip)", "delta (step size)"):
        choose(page, "place", place)
        expect(words).to_contain_text(f"Gates of {place} in Time-Indexed SSM")


def test_two_models_are_compared_and_a_prompt_is_followed(open_page):
    page = open_page("?tab=gates")
    wait_for_figures(page)
    choose(page, "other", "Neural ODE")
    expect(page.locator("#gates-words")).to_contain_text(
        "Neural ODE has no gates: a hypernetwork generates the weights from the depth t"
    )
    for name in ("heat-map", "predictions"):
        expect(page.locator(f"#gates-{name} .infolayer")).to_contain_text("Neural ODE")
        expect(page.locator(f"#gates-{name} .infolayer")).to_contain_text("Time-Indexed MLP")
    page.locator("#gates-prompt textarea, #gates-prompt input").first.fill("<script>alert(1)</script> é")
    before = page.locator("#gates-path-words").inner_text()
    page.get_by_role("button", name="Follow it").click()
    expect(page.locator("#gates-path-words")).not_to_have_text(before)
    slider = page.locator("#gates-depth input[type=number]")
    drawn = page.locator("#gates-at-depth .violinlayer path, #gates-at-depth .trace path").first
    first = drawn.get_attribute("d")
    slider.fill("0.9")
    slider.press("Tab")
    expect(drawn).not_to_have_attribute("d", first or "")
    page.get_by_label("difference from the unit's mean").check()
    expect(page.locator("#gates-words")).to_contain_text("each unit's own mean")
    take_screenshot(page, "gates-compared")
