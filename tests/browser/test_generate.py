"""The Generate tab in a real browser."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import take_screenshot


@pytest.fixture
def open_tab(open_page):
    """The tab, once the address has filled the controls and the cards."""

    def opened(query: str = "") -> Page:
        page = open_page(query)
        expect(page.locator("#cards .facts").first).to_contain_text("nats/byte")
        if query:
            finished(page)  # an address with settings writes its texts at once
        return page

    return opened


def texts(page: Page) -> list[str]:
    """What the model of each visible card wrote, from the bytes that the page keeps."""
    odds = page.locator("#cards .written:visible").evaluate_all(
        "all => all.map(each => [...each.querySelectorAll('b')].map(b => b.dataset.o))"
    )
    return [bytes(int(info.split()[0]) for each in card for info in each.split(";")).decode() for card in odds]


# Whether the cards show a later run than the given one, with as many bytes as the line above them says.
IS_DRAWN = """([word, earlier]) => {
  const run = document.querySelector("#cards .cards")?.dataset.run;
  const said = document.querySelector("#line")?.textContent.match(new RegExp(word + " ([0-9,]+) bytes"));
  const odds = [...document.querySelectorAll("#cards .written b")].map((b) => b.dataset.o.split(";").length);
  const sum = odds.reduce((sum, each) => sum + each, 0);
  return run !== earlier && said && Number(said[1].replaceAll(",", "")) === sum;
}"""


def run_of(page: Page) -> str | None:
    """The number of the run that the cards show."""
    return page.locator("#cards .cards").get_attribute("data-run")


def generate(page: Page, prompt: str) -> list[str]:
    """Write on after a prompt and wait until all models have finished."""
    earlier = run_of(page)
    page.locator("#prompt textarea").fill(prompt)
    page.locator("#go").click()
    return finished(page, earlier=earlier)


def finished(page: Page, word: str = "Finished:", earlier: str | None = None) -> list[str]:
    """The texts, once all of them are on the page."""
    page.wait_for_function(IS_DRAWN, arg=[word, earlier])
    return texts(page)


def set_number(page: Page, label: str, value: int) -> None:
    """Set a slider by its number."""
    field = page.get_by_label(f"number input for {label}")
    if not field.is_visible():
        page.locator("#settings button").first.click()
    field.fill(str(value))
    field.press("Tab")


# Whether every card is in a state and holds at least as many characters as are asked for, and fewer than all.
HAVE_GROWN = """([least, all, state = "writing"]) => {
  const sizes = [...document.querySelectorAll("#cards .written")].map((card) => card.querySelectorAll("b").length);
  const count = document.querySelectorAll("#cards .state." + state).length;
  return count === sizes.length && sizes.every((size) => least <= size && size < all);
}"""


def test_text_grows_in_four_cards_at_the_same_time(open_tab, hold):
    page = open_tab("?length=2000")
    hold.write_text("50")
    page.locator("#prompt textarea").fill("The history of")
    page.locator("#go").click()
    for count, then in ((50, "500"), (500, "1500"), (1500, "2000")):
        page.wait_for_function(HAVE_GROWN, arg=[count // 2, 2000])  # a character has up to four bytes
        expect(page.locator("#cards .state.writing")).to_have_count(4)
        hold.write_text(then)
    expect(page.locator("#cards .state.finished")).to_have_count(4)
    assert [len(each) for each in finished(page)] == [2000] * 4
    expect(page.locator("#cards .card-foot").first).to_contain_text(
        re.compile(r"finished.*B/s.*first byte.*2,000 bytes")
    )


def test_stop_in_mid_stream_keeps_what_is_written(open_tab, hold):
    page = open_tab()
    set_number(page, "Length", 2000)
    hold.write_text("100")
    page.locator("#go").click()
    page.wait_for_function(HAVE_GROWN, arg=[50, 2000])
    page.locator("#stop").click()
    stopped = finished(page, "Stopped after")
    expect(page.locator("#cards .state.stopped")).to_have_count(4)
    assert all(0 < len(each) < 2000 for each in stopped)
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Download JSON").click()
    result = json.loads(downloaded.value.path().read_text(encoding="utf-8"))
    assert [text["text"] for text in result["texts"]] == stopped
    take_screenshot(page, "stopped")


def test_a_number_that_is_being_typed_waits_until_it_is_in_range(open_tab):
    page = open_tab()
    field = page.get_by_label("number input for Depth steps")
    for typed, kept in (("1", "2"), ("", "2")):
        earlier = run_of(page)
        field.fill(typed)
        field.press("Tab")
        expect(field).to_have_value(kept)
        expect(page.get_by_label("range slider for Depth steps")).to_have_value(kept)
        finished(page, earlier=earlier)
    told = page.get_by_test_id("toast-body")
    expect(told).to_have_count(0)
    page.locator("#score").click()
    expect(told).to_contain_text("There is no text to score")
    heading = "each => getComputedStyle(each, '::before').content"
    assert page.locator(".toast-title").evaluate(heading) == '"That did not work"'
    take_screenshot(page, "error")


def test_same_seed_same_text_and_regenerate_another(open_tab):
    page = open_tab("?length=60&seed=11")
    first = generate(page, "In 1912 , ")
    assert [len(each.encode()) for each in first] == [60] * 4
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator(".written b")).to_have_count(0)
    assert generate(page, "In 1912 , ") == first
    earlier = run_of(page)
    page.get_by_role("button", name="Regenerate").click()
    assert finished(page, earlier=earlier) != first


@pytest.mark.parametrize(
    "prompt",
    ["", "emoji 😀 é", "<script>window.hit = 1</script><b>{{value}}</b> ${1+1}"],
    ids=["empty", "emoji", "script"],
)
def test_any_prompt_shows_as_text(open_tab, prompt):
    page = open_tab("?length=24")
    written = generate(page, prompt)
    assert all(len(each.encode()) == 24 for each in written)
    for card in page.locator("#cards .written:visible").all_text_contents():
        assert card.startswith(prompt)
    assert page.evaluate("window.hit") is None


def test_a_prompt_of_100_000_characters_is_cut_with_a_word(open_tab):
    page = open_tab("?length=24&models=standard")
    generate(page, "long " * 20_000)
    expect(page.locator("#cards .note").first).to_contain_text("only its last 64 bytes are read")


def test_odds_on_hover_and_with_the_arrow_keys(open_tab):
    page = open_tab("?length=40&models=standard,neural-ode")
    generate(page, "The ")
    expect(page.locator("#cards .written:visible")).to_have_count(2)
    page.locator(".written b:not([data-o*=';'])").nth(2).hover()
    expect(page.locator(".tip li")).to_have_count(5)
    expect(page.locator(".tip")).to_contain_text(re.compile(r"p = .* %, .* bits, rank \d+"))
    take_screenshot(page, "odds")
    page.mouse.move(0, 0)
    expect(page.locator(".tip")).to_have_count(0)
    page.locator(".written").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".written b.marked")).to_have_count(1)
    assert page.locator(".written b").nth(1).evaluate("b => b.classList.contains('marked')")
    expect(page.locator(".tip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".tip")).to_have_count(0)


def test_plain_text_copy_link_and_download(open_tab):
    page = open_tab("?length=40&models=standard&temperature=0.5")
    (written,) = generate(page, "She was ")
    page.locator("#tinted").get_by_role("checkbox").uncheck()
    expect(page.locator("body")).to_have_class(re.compile("plain"))
    assert page.locator(".written b.t5, .written b.t7").first.evaluate("b => getComputedStyle(b).backgroundColor") in (
        "rgba(0, 0, 0, 0)",
        "transparent",
    )
    page.get_by_role("button", name="Copy the text").click()
    expect(page.locator(".said")).to_have_text("Text copied")
    assert page.evaluate("navigator.clipboard.readText()") == written
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".said")).to_have_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Download JSON").click()
    result = json.loads(downloaded.value.path().read_text(encoding="utf-8"))
    assert result["texts"][0]["text"] == written
    assert result["request"]["temperature"] == 0.5
    page.goto(link)
    expect(page.locator("#prompt textarea")).to_have_value("She was ")
    expect(page.locator("#cards .written:visible")).to_have_count(1)
    assert finished(page) == [written]  # nothing was pressed


def texts_by_model(page: Page) -> dict[str, str]:
    """What is in each card, by the model whose card it is."""
    return dict(
        zip(
            page.locator("#cards .card").evaluate_all("all => all.map((each) => each.dataset.model)"),
            texts(page),
            strict=True,
        )
    )


def test_texts_stay_with_their_models_whatever_is_chosen_while_they_grow(open_tab, hold):
    page = open_tab()
    set_number(page, "Length", 300)
    generate(page, "The ")
    alone = texts_by_model(page)
    hold.write_text("50")
    page.locator("#go").click()
    page.wait_for_function(HAVE_GROWN, arg=[25, 300])
    chosen = page.locator("#models")
    chosen.get_by_label("Standard").uncheck()
    expect(page.locator("#cards .card")).to_have_count(3)
    hold.write_text("100")
    page.wait_for_function(HAVE_GROWN, arg=[55, 300])
    chosen.get_by_label("Time-Indexed MLP").uncheck()
    chosen.get_by_label("Standard").check()  # in the place of another model's card
    expect(page.locator("#cards .card")).to_have_count(3)
    hold.write_text("300")
    expect(page.locator("#line")).to_contain_text("Finished: 1,200 bytes")
    page.wait_for_function("() => document.querySelectorAll('#cards .state.finished').length === 3")
    assert texts_by_model(page) == {name: text for name, text in alone.items() if name != "time-indexed-mlp"}


def test_unticking_a_model_leaves_the_finished_texts(open_tab):
    page = open_tab()
    set_number(page, "Length", 40)
    generate(page, "The ")
    before = texts_by_model(page)
    marked = page.locator("#cards .card[data-model=standard] .written")
    marked.evaluate("region => { region.kept = true; }")
    page.locator("#models").get_by_label("Neural ODE").uncheck()
    expect(page.locator("#cards .card")).to_have_count(3)
    assert texts_by_model(page) == {name: text for name, text in before.items() if name != "neural-ode"}
    assert marked.evaluate("region => region.kept")  # not drawn anew
    page.locator("#models").get_by_label("Neural ODE").check()
    expect(page.locator("#cards .card")).to_have_count(4)
    assert texts_by_model(page) == before


def test_a_new_generate_stops_the_old_run_and_starts(open_tab, hold):
    page = open_tab()
    set_number(page, "Length", 2000)
    hold.write_text("60")
    page.locator("#prompt textarea").fill("The first ")
    page.locator("#go").click()
    page.wait_for_function(HAVE_GROWN, arg=[30, 2000])
    earlier = run_of(page)
    set_number(page, "Length", 50)
    page.locator("#prompt textarea").fill("The second ")
    page.locator("#go").click()
    # The old run is held and would never end by itself.
    assert [len(each.encode()) for each in finished(page, earlier=earlier)] == [50] * 4
    for card in page.locator("#cards .written").all_text_contents():
        assert card.startswith("The second ")
    hold.unlink()
    assert page.locator("#go").is_enabled()


def test_a_text_is_scored_under_each_model(open_tab):
    page = open_tab()
    page.locator("#score-text textarea").fill("<i>The tower</i> é")
    page.locator("#score").click()
    expect(page.locator("#scores .score-bar")).to_have_count(4)
    expect(page.locator("#scores strong")).to_have_text("best")
    assert page.locator("#scores .written").all_text_contents() == ["<i>The tower</i> é"] * 4
    take_screenshot(page, "score")


def test_choosing_no_model_is_told_in_words(open_tab):
    page = open_tab("?models=standard")
    expect(page.locator("#cards .written:visible")).to_have_count(1)
    page.locator("#models").get_by_label("Standard").uncheck()
    expect(page.locator("#line")).to_contain_text("Choose at least one model")
    page.locator("#go").click()
    expect(page.get_by_test_id("toast-body")).to_contain_text("0 models are chosen: choose one to 4")
    page.locator("#models").get_by_label("Standard").check()
    expect(page.locator("#line")).to_contain_text("Finished")  # as the text says that is there again


def test_the_dial_writes_again_and_tells_loss_and_speed_at_its_depth(open_tab):
    page = open_tab()
    set_number(page, "Length", 40)
    generate(page, "The ")
    before, earlier = texts_by_model(page), run_of(page)
    heads = page.locator("#cards .card .facts")
    expect(heads.nth(3)).to_contain_text("2 depth steps2.000 nats/byte")
    expect(heads.nth(3)).to_contain_text("B/s")
    set_number(page, "Depth steps", 3)
    finished(page, earlier=earlier)  # nothing was pressed
    after = texts_by_model(page)
    assert [name for name in before if before[name] == after[name]] == ["standard"]
    expect(heads.nth(0)).to_contain_text("its depth is fixed: 2 layers")
    for place in (1, 2, 3):
        expect(heads.nth(place)).to_contain_text("3 depth steps (trained at 2)")
        expect(heads.nth(place)).to_contain_text("loss not measured at this depth")
        expect(heads.nth(place)).to_contain_text(re.compile(r"[\d,]+ B/s"))
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".said")).to_have_text("Link copied")
    page.goto(page.evaluate("navigator.clipboard.readText()"))
    finished(page)
    assert texts_by_model(page) == after
    expect(page.get_by_label("number input for Depth steps")).to_have_value("3")


def test_the_page_opens_with_the_claim_an_example_in_every_card_and_the_gates(open_tab, server):
    server.wait_for("first byte of")
    page = open_tab()
    expect(page.locator("#claim strong")).to_contain_text(re.compile(r"One block, used 2 times .* times its size"))
    expect(page.locator("#claim .sizes [role=row]")).to_have_count(5)
    expect(page.locator("#claim .note")).to_contain_text("<unk>")
    expect(page.locator("#passage .place .gate")).to_have_count(60)
    page.wait_for_function(HAVE_GROWN, arg=[100, 1000, "finished"])
    expect(page.locator("#cards .state.finished")).to_have_count(4)
    for card in page.locator("#cards .written").all_text_contents():
        assert card.startswith("The history of")
    examples = texts(page)
    # What is shown is what Generate writes with the settings as they are.
    page.locator("#go").click()
    assert finished(page) == examples


def test_a_prompt_below_the_box_starts_at_once(open_tab):
    page = open_tab()
    set_number(page, "Length", 30)
    earlier = run_of(page)
    page.locator("#examples").get_by_role("button", name="The species is").click()
    finished(page, earlier=earlier)
    for card in page.locator("#cards .written").all_text_contents():
        assert card.startswith("The species is ")
    expect(page.locator("#prompt textarea")).to_have_value("The species is ")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_picture_moves_only_for_those_who_like_motion(open_tab, motion):
    page = open_tab()
    page.emulate_media(reduced_motion=motion)
    running = page.locator("#passage svg").evaluate(
        "svg => svg.getAnimations({subtree: true}).filter((each) => each.playState === 'running').length"
    )
    assert (running > 0) == (motion == "no-preference")
    expect(page.locator("#passage .place")).to_have_count(6)


def test_the_blind_test_hides_the_names_until_an_answer_and_counts(open_tab):
    page = open_tab()
    expect(page.locator("#blind-head h2")).to_contain_text(re.compile(r"which model is [\d.]+ times smaller\?"))
    for asked in (1, 2):
        page.get_by_role("button", name="New pair").click()
        expect(page.get_by_role("button", name="A is the smaller")).to_be_enabled()
        hidden = page.locator("#pair").inner_text()
        assert "Standard" not in hidden
        assert "Time-Indexed" not in hidden
        page.get_by_role("button", name="A is the smaller").click()
        verdict = page.locator("#verdict")
        expect(verdict).to_contain_text(re.compile(rf"(Right|Wrong): A is .* B is .* right \d of {asked} times"))
        expect(verdict).to_contain_text("happens by chance in")
        expect(page.get_by_role("button", name="B is the smaller")).to_be_disabled()


def test_on_a_phone_the_first_text_is_in_view_once_generate_is_pressed(open_page):
    page = open_page("", width=390)
    expect(page.locator("#cards .facts").first).to_contain_text("nats/byte")
    set_number(page, "Length", 60)
    picture = page.locator("#passage svg").bounding_box()
    for title in page.locator("#passage .title").all():
        box = title.bounding_box()
        assert box["x"] + box["width"] <= picture["x"] + picture["width"]
    box, button = (page.locator(f"#depth {each}").bounding_box() for each in (".tab-like-container", ".reset-button"))
    assert box["y"] <= button["y"]
    assert button["y"] + button["height"] <= box["y"] + box["height"]
    page.locator("#go").scroll_into_view_if_needed()
    earlier = run_of(page)
    page.locator("#go").click()
    finished(page, earlier=earlier)
    box = page.locator("#cards .written").first.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + 60 <= page.viewport_size["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
