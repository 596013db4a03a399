"""The Train tab in a real browser: one run from pressing Train to a text that its model writes."""

import io
import re
import zipfile

from playwright.sync_api import Page, expect

from tests.browser.conftest import take_screenshot

FIGURES = ("losses", "depths", "units")


def set_size(page: Page, steps: int, width: int) -> None:
    page.get_by_text("Size of the run").click()
    page.locator("#train-steps input[type=number]").fill(str(steps))
    page.locator("#train-steps input[type=number]").press("Tab")
    page.locator("#train-width").get_by_label(str(width), exact=True).check()


def choose(page: Page, control: str, option: str) -> None:
    page.locator(f"#train-{control} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_visitor_trains_stops_downloads_and_writes_with_what_was_learned(open_page, hold):
    hold.write_text("100")
    page = open_page("?tab=train")
    status = page.locator("#train-status")
    set_size(page, 600, 32)
    choose(page, "kind", "Time-Indexed MLP")
    page.locator("#train-go").dblclick()
    expect(page.locator("#train-go")).to_be_disabled()
    expect(status).to_contain_text("training, step")
    # What is chosen meanwhile is for the next run.
    choose(page, "kind", "Standard")
    page.locator("#train-choice input").click()
    expect(page.get_by_role("option", name=re.compile("^depth: drawn"))).to_have_count(0)
    page.get_by_role("option", name="optimizer: Muon").click()
    expect(page.locator("#train-losses .scatterlayer path.js-line").first).to_be_visible()
    page.locator("#train-stop").click()
    hold.unlink()
    expect(status).to_contain_text(re.compile(r"Time-Indexed MLP: \d.\d{3} nats per byte after [\d,]+ of 600 steps"))
    expect(status).to_contain_text("(ended early)")
    for name in FIGURES:
        expect(page.locator(f"#train-{name} .scatterlayer path.js-line").first).to_be_visible()
    expect(page.locator("#train-samples pre").first).not_to_be_empty()
    expect(page.locator("#train-kept")).to_contain_text("Time-Indexed MLP (mine-1), for you only")
    with page.expect_download() as download:
        page.locator("#train-file").click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
    assert names >= {"config.json", "model.safetensors", "record.json", "README.md"}
    expect(page.locator("#train-go")).to_be_enabled()
    take_screenshot(page, "train-stopped")

    page.get_by_role("tab", name="Generate", exact=True).click()
    models = page.locator("#models")
    for name in ("Standard", "Neural ODE", "Time-Indexed MLP", "Time-Indexed SSM"):
        models.get_by_label(name, exact=True).uncheck()
    models.get_by_label("Time-Indexed MLP (mine-1)").check()
    page.locator("#go").click()
    expect(page.locator("#line")).to_contain_text("Finished")
    page.get_by_role("tab", name="Gates", exact=True).click()
    page.locator("#gates-model input").click()
    page.get_by_role("option", name="Time-Indexed MLP (mine-1)").click()
    expect(page.locator("#gates-words")).to_contain_text("in Time-Indexed MLP (mine-1)")

    other = open_page()
    expect(other.locator("#models")).to_contain_text("Time-Indexed SSM")
    expect(other.locator("#models")).not_to_contain_text("mine-1")


def test_a_run_that_waits_sees_its_place_and_a_text_too_short_is_refused(open_page, hold):
    hold.write_text("100")
    first, second = open_page("?tab=train"), open_page("?tab=train", width=390, theme="dark")
    set_size(first, 600, 32)
    choose(first, "kind", "Time-Indexed MLP")
    first.locator("#train-go").click()
    expect(first.locator("#train-status")).to_contain_text("step 100 of 600")
    second.locator("#train-go").click()
    expect(second.locator("#train-status")).to_contain_text("Place 2 in the line: one run is before yours")
    assert second.evaluate("document.documentElement.scrollWidth") <= 390
    take_screenshot(second, "train-waiting-390-dark")
    second.locator("#train-stop").click()
    expect(second.locator("#train-status")).to_contain_text("Left the line")
    second.get_by_label("a text of yours").check()
    second.locator("#train-text textarea").fill("too short")
    second.locator("#train-go").click()
    expect(second.get_by_test_id("toast-body")).to_contain_text("The text has 9 bytes: paste 5,000 to 200,000")
    expect(second.locator("#train-go")).to_be_enabled()
    # Who leaves takes their run along: the next one starts.
    first.context.close()
    second.get_by_label("Python's manual").check()
    second.locator("#train-go").click()
    expect(second.locator("#train-status")).to_contain_text("step 100 of")
