"""The frame of the page: tabs and addresses."""

import pytest
from playwright.sync_api import expect

TABS = ("Generate", "Gates", "Results", "About")


@pytest.mark.parametrize("name", TABS)
def test_an_address_opens_its_tab(open_page, name):
    page = open_page(f"?tab={name.lower()}")
    expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")
