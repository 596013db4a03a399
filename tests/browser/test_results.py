"""The Results tab in a real browser: switching, filtering, downloading, uploading."""

import csv
import io
import json
import re
import shutil

import pytest
from gradio_client import Client
from playwright.sync_api import Page, expect

from tests.app.models import save_tiny_model
from tests.app.server import ROOT, running_demo
from tests.browser.conftest import THEMES, WIDTHS, take_screenshot
from tests.training.results.factory import runs
from training.results.records import write_records

FIGURES = (
    "loss",
    "loss_against_parameters",
    "learning_curves",
    "step_time",
    "significance",
    "ablation_grid",
    "depth_steps",
)


def wait_for_figures(page: Page) -> None:
    for name in FIGURES:
        expect(page.locator(f"#results-{name} .js-plotly-plot .main-svg").first).to_be_visible()


def rows(page: Page):
    """The lines of the table, without its head."""
    return page.locator("#results-table").get_by_role("row").filter(has_text="published-1000")


def downloaded(page: Page, button: str) -> bytes:
    with page.expect_download() as download:
        page.locator(button).click()
    with open(download.value.path(), "rb") as file:
        return file.read()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_tab_is_drawn_within_the_page(open_page, width, theme):
    page = open_page("?tab=results", width=width, theme=theme)
    wait_for_figures(page)
    page.locator("#results-source").get_by_label("both").check()
    expect(page.locator("#results-published")).to_contain_text("Why the published figures differ")
    expect(page.locator("#results-loss .ytick")).to_have_count(8)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    take_screenshot(page, f"results-drawn-{width}-{theme}")


def test_switching_filtering_and_downloading(open_page):
    page = open_page("?tab=results")
    wait_for_figures(page)
    expect(page.locator("#results-headline")).to_contain_text("After 1,000 steps on wikitext-2")
    expect(rows(page)).to_have_count(4)
    page.locator("#results-source").get_by_label("both").check()
    expect(rows(page)).to_have_count(8)
    expect(page.locator("#results-loss_against_parameters .legend")).to_contain_text("Standard, published")
    page.locator("#results-models").get_by_label("Neural ODE").uncheck()
    expect(rows(page)).to_have_count(6)
    expect(page.locator("#results-significance-words li")).to_have_count(3)
    page.get_by_placeholder("Search...").fill("SSM")
    expect(rows(page)).to_have_count(2)
    page.get_by_placeholder("Search...").fill("")

    lines = list(csv.DictReader(io.StringIO(downloaded(page, "#results-csv").decode())))
    assert [line["model"] for line in lines] == ["standard", "time-indexed-mlp", "time-indexed-ssm"] * 2
    assert [line["source"] for line in lines] == ["measured"] * 3 + ["published"] * 3
    latex = downloaded(page, "#results-latex").decode()
    assert latex.count("\\begin{tabular}") == 1
    assert "Time-Indexed SSM" in latex
    assert "2.147 $\\pm$ 0.173" in latex
    curves = list(csv.DictReader(io.StringIO(downloaded(page, "#results-learning_curves-csv").decode())))
    assert [line["step"] for line in curves] == ["500.0", "1000.0"] * 3  # what is drawn, and nothing else
    assert downloaded(page, "#results-loss-pdf").startswith(b"%PDF")
    page.locator("#results-loss").hover()
    assert downloaded(page, '#results-loss [data-title="Download plot as a PNG"]').startswith(b"\x89PNG")


def test_sorting_by_a_column(open_page):
    page = open_page("?tab=results")
    expect(rows(page)).to_have_count(4)
    heading = page.locator("#results-table").get_by_role("columnheader").filter(has_text="Loss").first
    heading.click()
    heading.get_by_label("Open cell menu").click()
    page.get_by_role("menuitem", name="Sort ascending").click()
    expect(rows(page).first).to_contain_text("Time-Indexed SSM")


def test_own_runs_are_uploaded_and_bad_ones_refused(open_page, tmp_path):
    page = open_page("?tab=results")
    wait_for_figures(page)
    page.get_by_text("Compare with your own runs").click()
    chooser = page.locator("#results-upload input[type=file]")
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({"a": 1}) + "\n")
    chooser.set_input_files(bad)
    note = page.locator("#results-upload-note")
    expect(note).to_contain_text("This file cannot be used. The file, line 1: not a run record: missing")
    page.locator("#results-upload").get_by_label("Clear").click()
    good = tmp_path / "runs.jsonl"
    write_records(runs("time-indexed-mlp", (1.5, 1.6, 1.7)), good)
    page.locator("#results-upload input[type=file]").set_input_files(good)
    expect(note).to_contain_text("Runs read: 3, of 1 model, marked")
    expect(page.locator("#results-models").get_by_label("Time-Indexed MLP (yours)")).to_be_checked()
    expect(rows(page).filter(has_text="(yours)")).to_contain_text("1.6")
    expect(page.locator("#results-loss .ytick")).to_have_count(5)
    take_screenshot(page, "results-uploaded")


def test_runs_of_another_recipe_are_shown_when_they_are_uploaded(open_page, tmp_path):
    page = open_page("?tab=results")
    wait_for_figures(page)
    page.get_by_text("Compare with your own runs").click()
    write_records(runs("time-indexed-mlp", (1.5, 1.6, 1.7), recipe="quick"), tmp_path / "runs.jsonl")
    page.locator("#results-upload input[type=file]").set_input_files(tmp_path / "runs.jsonl")
    expect(page.locator("#results-upload-note")).to_contain_text("in the list of models of quick.")
    expect(page.locator("#results-recipe input")).to_have_value(re.compile(r"\(quick, 1,000 steps\)$"))
    expect(page.locator("#results-headline")).to_contain_text("Time-Indexed MLP (yours) reaches 1.600")
    expect(page.locator("#results-loss .ytick")).to_have_count(1)


@pytest.fixture(scope="module")
def many_recipes(tmp_path_factory):
    """A demo with the bundled records, which are of many recipes."""
    folder = tmp_path_factory.mktemp("recipes")
    save_tiny_model("standard", folder / "checkpoints" / "standard")
    shutil.copy(ROOT / "checkpoints" / "runs.jsonl", folder / "checkpoints" / "runs.jsonl")
    with running_demo(folder / "checkpoints", folder / "demo.log") as running:
        yield running


def test_values_of_an_old_list_are_no_error(many_recipes):
    """A page that is a moment behind sends models of the recipe before."""
    client = Client(many_recipes.address, verbose=False)
    chosen = ("", "ablation-time", ["standard"], "measured", False, "validation", 1, "nats", "parameters")
    answer = client.predict(*chosen, api_name="/show_results")
    recipe, models, *others = answer[1], answer[2], *answer[-6:]
    assert "ablation-time" in [name for _, name in recipe["choices"]]
    assert len(models["value"]) == len(models["choices"]) == 5
    # What the page sent is not sent back: a visitor may have chosen something else since.
    assert not [each for each in (recipe, *others) if "value" in each]


# Note all that the tab says at any moment, however short.
WATCH = """() => {
  window.said = [];
  const note = () => {
    window.said.push(document.querySelector("#results-headline").innerText);
    const errors = document.querySelectorAll(".figure .error, #results-table .error");
    window.said.push(...Array.from(errors, (each) => each.innerText));
  };
  new MutationObserver(note).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def test_another_recipe_is_drawn_with_its_own_models(open_page, many_recipes):
    page = open_page("?tab=results", address=many_recipes.address)
    wait_for_figures(page)
    page.evaluate(WATCH)
    models = {"ablation-weights": 8, "ablation-time": 5, "published-3000": 4, "showcase": 4, "published-1000": 4}
    for recipe, count in [*models.items()] * 2:
        page.locator("#results-recipe input").click()
        page.get_by_role("option", name=re.compile(rf"\({recipe}, ")).click()
        lines = page.locator("#results-table").get_by_role("row").filter(has_text=recipe)
        expect(lines).to_have_count(count)
        expect(page.locator("#results-loss .ytick")).to_have_count(count)
        expect(page.locator("#results-models input:checked")).to_have_count(count)
    wrong = {text for text in page.evaluate("window.said") if "No model is chosen" in text or "rror" in text}
    assert not wrong
