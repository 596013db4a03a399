"""The address of a tab reopens what was chosen on it, with its result; a wrong one is answered in words."""

from playwright.sync_api import expect

from tests.browser import test_dynamics, test_gates, test_results
from tests.browser.conftest import query_of

# What figures refer to by an address, and not by the name of something on the page.
REFERENCES = """() => [...document.querySelectorAll(".js-plotly-plot [clip-path], .js-plotly-plot .gradient_filled")]
  .map((each) => each.getAttribute("clip-path") || each.style.fill)
  .filter((each) => !/^url\\(["']?#/.test(each))"""


def test_a_link_reopens_gates_with_what_was_chosen(open_page):
    page = open_page("?tab=gates")
    test_gates.wait_for_figures(page)
    assert query_of(page) == "?tab=gates"
    test_gates.choose(page, "model", "Time-Indexed SSM")
    expect(page.locator("#gates-words")).to_contain_text("in Time-Indexed SSM")
    test_gates.choose(page, "place", "A (decay)")
    test_gates.choose(page, "other", "Neural ODE")
    page.locator("#gates-prompt textarea, #gates-prompt input").first.fill("a & b")
    page.get_by_role("button", name="Follow it").click()
    page.get_by_role("button", name="Copy link").locator("visible=true").click()
    # Figures that were drawn before the address changed have their colour bars and clips.
    assert page.evaluate(REFERENCES) == []
    link = page.evaluate("navigator.clipboard.readText()")
    assert "model=time-indexed-ssm" in link
    assert "prompt=a+%26+b" in link
    again = open_page(query_of(page))
    expect(again.locator("#gates-words")).to_contain_text("Gates of A (decay) in Time-Indexed SSM")
    expect(again.locator("#gates-heat-map .infolayer")).to_contain_text("Time-Indexed SSM")
    expect(again.locator("#gates-path-words")).to_contain_text("Neural ODE predicts")
    expect(again.locator("#gates-prompt textarea, #gates-prompt input").first).to_have_value("a & b")
    test_gates.wait_for_figures(again)


def test_a_link_reopens_results_with_what_was_chosen(open_page):
    page = open_page("?tab=results")
    test_results.wait_for_figures(page)
    assert query_of(page) == "?tab=results"
    page.locator("#results-source").get_by_label("both").check()
    expect(test_results.rows(page)).to_have_count(8)
    page.locator("#results-unit").get_by_label("bits per byte").check()
    page.locator("#results-models").get_by_label("Neural ODE").uncheck()
    expect(test_results.rows(page)).to_have_count(6)
    page.wait_for_url("**models=standard**")
    again = open_page(query_of(page))
    expect(test_results.rows(again)).to_have_count(6)
    expect(again.locator("#results-headline")).to_contain_text("bits per byte")
    expect(again.locator("#results-source").get_by_label("both")).to_be_checked()
    expect(again.locator("#results-models input:checked")).to_have_count(3)
    test_results.wait_for_figures(again)


def test_a_link_reopens_the_choices_of_train(open_page):
    page = open_page("?tab=train&kind=standard&choice=optimizer%3Dmuon&steps=100&width=32&source=pasted")
    expect(page.locator("#train-kind input")).to_have_value("Standard")
    expect(page.locator("#train-choice input")).to_have_value("optimizer: Muon")
    expect(page.locator("#train-text textarea")).to_be_visible()
    page.get_by_text("Size of the run").click()
    expect(page.locator("#train-steps input[type=number]")).to_have_value("100")
    page.get_by_label("Python's manual").check()
    page.wait_for_function("!location.search.includes('source')")
    assert "choice=optimizer" in page.url


def test_a_wrong_link_is_answered_in_words(open_page):
    page = open_page("?tab=gates&model=nobody")
    told = page.get_by_test_id("toast-body")
    expect(told).to_contain_text("The link says model='nobody', which is not here; there is standard")
    test_gates.wait_for_figures(page)
    page = open_page("?tab=results&smoothing=x")
    expect(page.get_by_test_id("toast-body")).to_contain_text("The link says smoothing='x': give a number from 1 to 25")
    test_results.wait_for_figures(page)
    page = open_page("?tab=dynamics&t=2&text=to+be")
    expect(page.get_by_test_id("toast-body")).to_contain_text("The link says t='2': give a number from 0.02 to 1")
    test_dynamics.wait_for_figures(page)
