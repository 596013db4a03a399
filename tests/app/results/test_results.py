"""What the Results tab shows of records: table, figures, words, files."""

import csv
import dataclasses
import io
import re

import numpy as np
import pytest

from app.plot_style import see_through
from app.results.actions import control, show, table_selections
from app.results.data import all_groups, choose, default_group, groups_of, mark_as_yours
from app.results.files import write_figure, write_table
from app.results.tables import COLUMNS, best_values
from app.results.words import uploaded_html
from tests.training.results.factory import make_record, published_records, runs
from training.recipes.library import RECIPES
from training.results.formatting import show_mean
from training.results.leading import leading_group
from training.results.naming import title_of_group
from training.results.records import write_records
from training.results.views import FIGURES
from training.results.views.comparisons import OPEN

KEY = "training_per_token_formula"
FLOPS = {"per_token": 1e5}
KINDS = ["standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm"]


@pytest.fixture(scope="module")
def groups():
    """Five seeds of four kinds, one seed of a longer recipe, and a grid with other depths."""
    longer = [make_record(kind, 42, 1.5, recipe="published-3000", num_steps=3000) for kind in KINDS]
    grid = [
        make_record(
            "time-indexed-mlp", seed, 1.7 + seed / 100, recipe="grid", model=f"{weights} + {mixer}", config=config
        )
        for weights in ("own", "generated", "gated", "tied")
        for mixer in ("mlp", "ssm")
        for seed in (0, 1)
        for config in [{"weights": weights, "mixer": mixer}]
    ]
    depths = runs("time-indexed-ssm", recipe="depths")
    depths = [
        dataclasses.replace(each, final={**each.final, "valid_loss_at_steps_2": 2.5, "valid_loss_at_steps_4": 2.2})
        for each in depths
    ]
    return groups_of([*published_records(), *longer, *grid, *depths])


def said(figure) -> str:
    """The words of a figure that has nothing to draw."""
    assert not figure.data
    return figure.layout.annotations[0].text.replace("<br>", " ")


def test_the_table_has_a_row_per_model_with_rounded_numbers(groups):
    results = show(groups, "published-1000", KINDS, "measured")
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in results.table["data"]]
    assert [row["Model"] for row in rows] == ["Standard", "Neural ODE", "Time-Indexed MLP", "Time-Indexed SSM"]
    assert (rows[0]["Loss"], rows[0]["± 95 %"], rows[0]["Seeds"]) == (2.367, 0.031, 5)
    assert {row["Recipe"] for row in rows} == {"published-1000"}
    assert rows[0]["Memory (MB)"] == 400


def test_the_best_of_what_was_measured_is_bold_and_numbers_have_fixed_decimals(groups):
    def bold(source: str) -> list[tuple[str, str]]:
        table = show(groups, "published-1000", KINDS, source).table
        styles = table["metadata"]["styling"]
        return [
            (f"{row[0]}, {row[1]}", name)
            for row, line in zip(table["data"], styles, strict=True)
            for name, style in zip(COLUMNS, line, strict=True)
            if style
        ]

    marked = [("Time-Indexed SSM, measured", "Loss"), ("Time-Indexed SSM, measured", "Whole text")]
    assert bold("measured") == bold("both") == marked  # sizes and times of these records are all the same
    assert bold("published") == []
    shown = show(groups, "published-1000", KINDS, "measured").table["metadata"]["display_value"][1]
    assert shown[COLUMNS.index("Loss")] == "2.336"
    assert shown[COLUMNS.index("ms/step")] == "20.0"
    slow = [make_record("neural-ode", loss=1.9, machine={"device": "gpu"}, speed={"step_ms": 1.0})]
    mixed = groups_of([make_record("standard", loss=1.8), *slow])
    assert (1, "ms/step") not in best_values([choose(mixed, mixed[0].name, None, source="measured")])


def test_losses_are_in_one_unit_everywhere(groups):
    nats, bits = (show(groups, "published-1000", KINDS, "both", unit=unit) for unit in ("nats", "bits"))
    size = np.log(2)

    def column(results, name):
        return [row[COLUMNS.index(name)] for row in results.table["data"]]

    np.testing.assert_allclose(np.array(column(bits, "Loss")) * size, column(nats, "Loss"), atol=1e-3)
    np.testing.assert_allclose(column(bits, "Loss"), column(bits, "Whole text"), atol=1e-3)
    for name in ("loss_against_parameters", "learning_curves", "loss"):
        drawn = [figure.figures[name] for figure in (nats, bits)]
        axis = "xaxis" if name == "loss" else "yaxis"
        titles = [each.layout[axis].title.text for each in drawn]
        assert ["nats per byte" in titles[0], "bits per byte" in titles[1]] == [True, True]
        values = [np.concatenate([np.ravel(trace[axis[0]]) for trace in each.data]) for each in drawn]
        if name != "loss":
            np.testing.assert_allclose(values[1].astype(float) * size, values[0].astype(float), atol=1e-6)
    assert "bits per byte" in bits.headline
    assert "nats per byte" not in bits.headline
    only = show(groups, "published-1000", KINDS, "published", unit="bits").headline
    assert "bits per byte from the lowest loss on: Time-Indexed SSM 3.09" in only
    # A difference is as significant in any unit.
    p_values = [re.findall(r"corrected for all pairs ([\d.e-]+)", each.significance) for each in (nats, bits)]
    assert p_values[0] == p_values[1]
    with pytest.raises(ValueError, match="unit='bytes' is not one of nats, bits"):
        choose(groups, "published-1000", KINDS, unit="bytes")


def test_loss_stands_against_sizes_operations_or_times_with_the_front_drawn():
    small = make_record("time-indexed-mlp", loss=2.0, parameters={"total": 100}, flops=FLOPS | {KEY: 3.0})
    large = make_record("standard", loss=1.5, parameters={"total": 900}, flops=FLOPS | {KEY: 1.0})
    worse = make_record("neural-ode", loss=2.1, parameters={"total": 500}, flops=FLOPS | {KEY: 2.0})
    found = groups_of([small, large, worse])

    def front(against: str):
        figure = show(found, found[0].name, list(found[0].labels), "both", against=against).figures[
            "loss_against_parameters"
        ]
        (drawn,) = [trace for trace in figure.data if trace.name == "Pareto front"]
        return list(drawn.x), list(drawn.y), figure.layout.xaxis.title.text, figure.layout.annotations[0].text

    assert front("parameters") == ([100, 900], [2.0, 1.5], "stored parameters", "\N{SOUTH WEST ARROW} better")
    assert front("flops")[:3] == ([1.0], [1.5], "training operations per byte (FLOPs)")
    assert front("step_ms")[2] == "ms per training step on cpu"
    with pytest.raises(ValueError, match="against='memory' is not one of parameters, flops, step_ms"):
        show(found, found[0].name, list(found[0].labels), "both", against="memory")


def test_recipes_have_names_that_people_read_in_the_order_of_their_sections():
    names = ["showcase+learning_rate=4e-3+num_steps=300", "ablation-time", "mine", "published-1000"]
    found = groups_of([make_record(recipe=name, loss=1.0 + place) for place, name in enumerate(names)])
    assert control(found, None, "", None).groups == [
        ("The published five-seed protocol on WikiText-2, with causal models (published-1000, 1,000 steps)", names[3]),
        ("Another recipe (mine, 1,000 steps)", "mine"),
        (
            "Ablation: whether blocks that see t beat blocks that always see t = 0 (ablation-time, 1,000 steps)",
            names[1],
        ),
        ("Search: showcase with learning rate 4e-3, 300 steps", names[0]),
    ]
    # Numbers stand in the order of their values.
    rates = ["2.5e-4", "1e-3", "4e-3", "0.01"]
    searches = groups_of([make_record(recipe=f"showcase+learning_rate={rate}") for rate in reversed(rates)])
    assert [name.partition("=")[2] for _, name in control(searches, None, "", None).groups] == rates
    for name, recipe in RECIPES.items():
        (group,) = groups_of([make_record(recipe=name)])
        assert recipe.summary.removeprefix("ablation: ")[1:] in title_of_group(group)


def test_published_rows_stand_beside_ours_and_the_page_says_why_they_differ(groups):
    assert show(groups, "published-1000", KINDS, "measured").published == ""
    both = show(groups, "published-1000", KINDS, "both")
    assert [row[1] for row in both.table["data"]] == ["measured"] * 4 + ["published"] * 4
    assert "None of the four models is causal" in both.published
    assert "Published p-values, without correction" in both.published
    only = show(groups, "published-1000", ["standard"], "published")
    assert [row[:2] for row in only.table["data"]] == [["Standard", "published"]]
    assert "Nothing was published for grid" in show(groups, "grid", ["own + mlp"], "both").published


def test_published_alone_speaks_of_nothing_that_was_measured(groups):
    results = show(groups, "published-1000", KINDS, "published")
    assert "Published after 1,000 steps on wikitext-2" in results.headline
    assert "Time-Indexed SSM 2.147 ± 0.173" in results.headline
    assert "measured here" in results.headline  # that it cannot be compared with
    assert "significant" not in results.headline + results.significance
    assert "Published p-values, without correction: Standard against Neural ODE 0.0617" in results.significance
    assert results.notes == ""
    for name in ("learning_curves", "significance", "ablation_grid", "depth_steps"):
        assert said(results.figures[name])
    nothing = show(groups, "grid", ["own + mlp"], "published")
    assert "Nothing was published for grid." in nothing.headline
    assert nothing.table["data"] == []
    assert "No test was published" in nothing.significance


def test_published_step_times_stand_under_the_device_they_are_of(groups):
    figure = show(groups, "published-1000", KINDS, "both").figures["step_time"]
    headings = {each.text: each.y for each in figure.layout.annotations if each.text.startswith("<b>")}
    assert headings == {"<b>cpu</b>": 0, "<b>NVIDIA A100</b>": 5}
    assert [trace.y[0] for trace in figure.data] == [1, 2, 3, 4, 6, 7, 8, 9]


def test_the_headline_counts_the_models_it_speaks_of():
    records = [
        make_record(seed=place, loss=1.0 + place, recipe="grid", model=f"model {place}", parameters={"total": total})
        for place, total in enumerate((10**9, 10, 9))
    ]

    def headline(*labels):
        return show(groups_of(records), "grid", labels, "measured").headline

    best = "the best of the 2 models (of 3) that are smaller than a plain transformer, model 1,"
    assert best in headline("model 0", "model 1", "model 2")
    assert "the only one of 2 models that is smaller than a plain transformer, model 1," in headline(
        "model 0", "model 1"
    )
    assert "the best of 2 models, model 1," in headline("model 1", "model 2")


def test_hollow_marks_are_published_and_filled_ones_measured(groups):
    figure = show(groups, "published-1000", KINDS, "both").figures["loss_against_parameters"]
    symbols = {trace.name: trace.marker.symbol for trace in figure.data}
    assert symbols["Standard"] == "square"
    assert symbols["Standard, published"] == "square-open"
    assert figure.layout.xaxis.type == "log"


def test_models_of_one_kind_have_marks_of_their_own():
    made = [
        make_record(
            model=f"standard {place}",
            settings={"corpus": "wikitext-2", "batch_size": 8 + place},
            parameters={"total": 1_000 * (1 + place), "effective": 1_000},
        )
        for place in range(3)
    ]
    found = groups_of(made)
    for figure in ("loss_against_parameters", "learning_curves"):
        drawn = show(found, "published-1000", found[0].labels, "measured").figures[figure]
        symbols = [each.marker.symbol for each in drawn.data if each.name and each.name.startswith("Standard ")]
        assert len(set(symbols)) == 3, figure
        assert symbols[0] == "square"


def test_losses_stand_in_the_first_columns():
    assert COLUMNS[:4] == ("Model", "Source", "Loss", "± 95 %")


def test_what_stands_in_figures_has_room_on_a_phone(groups):
    found = show(all_groups(), "ablation-weights", ["own + mlp"], "measured").figures
    lines = [each for row in found["ablation_grid"].data[0].text for cell in row for each in cell.split("<br>")]
    lines += found["ablation_grid"].layout.xaxis.title.text.split("<br>")[:2]
    lines += [line for each in found["step_time"].layout.annotations for line in each.text.split("<br>")]
    assert max(len(re.sub(r"</?b>", "", line)) for line in lines) <= 32
    assert "bluer" in found["ablation_grid"].layout.xaxis.title.text  # in both themes


def test_figures_follow_the_chosen_models(groups):
    results = show(groups, "published-1000", ["standard", "time-indexed-ssm"], "measured")
    assert len(results.table["data"]) == 2
    assert {trace.name for trace in results.figures["learning_curves"].data if trace.name} == {
        "Standard",
        "Time-Indexed SSM",
    }
    assert results.significance.count("<li>") == 1
    (cell,) = [text for row in results.figures["significance"].data[0].text for text in row if text]
    assert cell.startswith("<b>-0.220</b><br>p ")
    assert "g -" in cell


def test_the_significance_matrix_agrees_with_its_words(groups):
    results = show(groups, "published-1000", KINDS, "measured")
    (matrix,) = results.figures["significance"].data
    assert [[text != "" for text in row] for row in matrix.text] == [
        [True, *[False] * 2],
        [True, True, False],
        [True] * 3,
    ]
    colours = [colour for _, colour in matrix.colorscale]
    shown = [colours[place] for row in matrix.z for place in row if place is not None]
    assert len(shown) == results.significance.count("<li>") == 6
    significant = results.significance.count(": significant at 0.05")
    assert sum(colour != see_through(OPEN) for colour in shown) == significant > 0
    assert "Hedges&#x27; g" in results.significance or "Hedges' g" in results.significance


def test_one_seed_has_no_interval_and_says_so(groups):
    results = show(groups, "published-3000", KINDS, "measured")
    assert results.table["data"][0][COLUMNS.index("± 95 %")] is None
    assert "One seed, so no interval and no test" in results.notes
    assert "needs two models with at least two seeds each" in said(results.figures["significance"])
    assert results.figures["loss"].data[0].error_x.array is None


def test_missing_data_is_said_where_the_figure_would_stand():
    bare = [dataclasses.replace(each, curve=[], speed={}) for each in runs("standard")]
    results = show(groups_of(bare), "published-1000", ["standard"], "measured")
    assert "Learning curves need runs with at least two evaluations." in said(results.figures["learning_curves"])
    assert "Step time needs runs that recorded it." in said(results.figures["step_time"])
    assert "The grid of weight sources and mixers needs 5 cells with runs, not 1." in said(
        results.figures["ablation_grid"]
    )
    assert "No run was read with other numbers of depth steps" in said(results.figures["depth_steps"])


def test_no_records_and_no_models_are_said_in_words(groups):
    empty = show((), None, [], "measured")
    assert "There are no records yet" in empty.headline
    assert empty.table["data"] == []
    assert set(empty.figures) == set(FIGURES)
    assert "There are no records yet" in said(empty.figures["loss"])
    assert "No model is chosen" in show(groups, "published-1000", [], "measured").headline


def test_the_grid_and_the_depths_come_from_the_runs_that_have_them(groups):
    figures = show(groups, "published-1000", KINDS, "measured").figures
    assert np.asarray(figures["ablation_grid"].data[0].z).shape == (4, 2)
    assert "grid" in figures["ablation_grid"].layout.xaxis.title.text
    assert list(figures["depth_steps"].data[0].x) == [2, 4]


def test_depths_come_from_the_runs_that_say_most_of_them(groups):
    """A search read one model at other depths: it must not stand before a recipe that read several."""
    searched = dataclasses.replace(
        make_record("time-indexed-mlp", recipe="showcase+learning_rate=4e-3+num_steps=300"),
        final={"valid_loss": 1.7, "valid_loss_at_steps_2": 2.5, "valid_loss_at_steps_4": 2.2},
    )
    several = [dataclasses.replace(make_record(kind, recipe="showcase"), final=searched.final) for kind in KINDS[1:]]
    found = groups_of([*published_records(), searched, *several])
    assert len(show(found, "published-1000", KINDS, "measured").figures["depth_steps"].data) == 3
    chosen = show(found, searched.recipe, ["time-indexed-mlp"], "measured").figures["depth_steps"]
    assert len(chosen.data) == 1
    assert "showcase<br>+ learning_rate=4e-3<br>+ num_steps=300" in chosen.layout.xaxis.title.text


def test_published_shapes_wait_to_be_chosen_and_uploaded_runs_do_not():
    shaped = make_record("neural-ode", loss=2.1, model="neural-ode, published shape")
    found = groups_of([*published_records(), shaped, *mark_as_yours([make_record("standard", loss=1.9)])])
    shown = control(found, None, "", None)
    assert shown.chosen == ["standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm", "standard (yours)"]
    assert "neural-ode, published shape" in [label for _, label in shown.models]


def test_curves_are_smoothed_by_a_mean_of_neighbours(groups):
    def last(**how):
        figure = show(groups, "published-1000", ["standard"], "measured", **how).figures["learning_curves"]
        return figure.data[1].y[-1], figure.layout.yaxis.title.text

    assert last() == (pytest.approx(2.367, abs=1e-3), "validation loss (nats per byte)")
    assert last(curve="training") == (pytest.approx(2.267, abs=1e-3), "training loss (nats per byte)")
    assert last(window=2)[0] == pytest.approx(2.367 + 0.25, abs=1e-3)


def test_labels_from_records_are_escaped(groups):
    hostile = [dataclasses.replace(each, model="<img src=x onerror=alert(1)>") for each in runs("standard")]
    results = show(groups_of(hostile), "published-1000", ["<img src=x onerror=alert(1)>"], "measured")
    assert "<img" not in results.headline + results.notes + results.significance + results.published
    assert all("<img" not in figure.to_json() for figure in results.figures.values())


def test_controls_offer_what_fits_the_corpus_and_fall_back(groups):
    shown = control(groups, None, "", None)
    assert (shown.group, shown.chosen) == ("published-1000", KINDS)
    assert control(groups, "published-3000", "", ["standard"]).chosen == ["standard"]
    other = groups_of([*published_records(), make_record(settings={"corpus": "builtin"}, recipe="small")])
    assert [name for _, name in control(other, "published-1000", "builtin", None).groups] == ["small"]
    assert control(other, "published-1000", "builtin", None).group == "small"
    assert default_group(()) is None


def test_the_page_begins_with_what_the_readme_begins_with():
    tuned = [make_record(kind, seed, recipe="tuned-1000") for kind in KINDS for seed in (42, 123)]
    # The published protocol has more seeds.
    both = [*published_records(), *tuned]
    assert default_group(groups_of(both)).name == leading_group(both).name == "tuned-1000"
    too_few = [*published_records(), *(each for each in tuned if each.seed == 42)]
    assert default_group(groups_of(too_few)).name == leading_group(too_few).name == "published-1000"


def test_uploaded_runs_of_another_recipe_are_shown_at_once():
    ours, theirs = published_records(), runs("standard", recipe="quick")
    found = groups_of([*ours, *mark_as_yours(theirs)])
    shown = control(found, "published-1000", "", KINDS, show_uploaded=True)
    assert (shown.group, shown.chosen) == ("quick", ["standard (yours)"])
    assert "list of models of quick." in uploaded_html(mark_as_yours(theirs))
    later = control(found, "published-1000", "", ["standard"])  # once shown, a visitor may look elsewhere
    assert (later.group, later.chosen) == ("published-1000", ["standard"])
    both = groups_of([*ours, *mark_as_yours(ours[:5])])
    assert control(both, "published-1000", "", ["neural-ode"], show_uploaded=True).chosen == [
        "neural-ode",
        "standard (yours)",
    ]
    elsewhere = groups_of([*ours, *mark_as_yours(runs(recipe="quick", settings={"corpus": "mine"}))])
    assert control(elsewhere, "published-1000", "wikitext-2", KINDS, show_uploaded=True).corpus == ""


def test_an_empty_choice_is_kept_and_labels_of_other_recipes_are_not(groups):
    assert control(groups, "published-1000", "", []).chosen == []
    assert "No model is chosen" in show(groups, "published-1000", [], "measured").headline
    labels = next(list(group.labels) for group in groups if group.name == "grid")
    assert control(groups, "grid", "", None).chosen == labels
    assert control(groups, "grid", "", ["standard", "neural-ode"]).chosen == labels
    assert control(groups, "grid", "", ["standard", "own + mlp"]).chosen == ["own + mlp"]


def test_uploaded_runs_stand_beside_ours_even_if_they_repeat_them():
    ours = published_records()
    (group,) = groups_of([*ours, *mark_as_yours(ours[:5])])
    assert "standard (yours)" in group.labels
    assert len(group.runs["standard"]) == 5
    rows = show([group], group.name, group.labels, "measured").table["data"]
    assert ["Standard (yours)", 2.367] in [[row[0], row[5]] for row in rows]


def test_files_open_and_hold_the_numbers_of_the_table(groups, tmp_path):
    selection = choose(groups, "published-1000", KINDS, source="both")
    path = write_table(table_selections(selection, False, ""), "csv", tmp_path)
    lines = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [line["source"] for line in lines] == ["measured"] * 4 + ["published"] * 4
    assert float(lines[0]["loss"]) == pytest.approx(2.367188)
    everything = write_table(table_selections(selection, True, ""), "csv", tmp_path).read_text()
    assert {line["recipe"] for line in csv.DictReader(io.StringIO(everything))} == {each.recipe for each in groups}
    latex = write_table(table_selections(selection, False, ""), "tex", tmp_path).read_text()
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 1
    assert show_mean(selection.rows()[0].loss).split()[0] in latex


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_has_its_data_and_a_pdf(groups, tmp_path, figure):
    selection = choose(groups, "published-1000", KINDS, source="measured")
    data = write_figure(selection, figure, "csv", tmp_path)
    assert len(list(csv.reader(io.StringIO(data.read_text())))) > 2
    pdf = write_figure(selection, figure, "pdf", tmp_path)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf == write_figure(selection, figure, "pdf", tmp_path)  # the same file, not another
    assert (data.suffix, pdf.suffix) == (".csv", ".pdf")


def test_a_file_that_cannot_be_made_says_why(groups, tmp_path):
    selection = choose(groups, "published-3000", KINDS, source="measured")
    for form in ("pdf", "csv"):
        with pytest.raises(
            ValueError, match="no figure significance for published-3000: the significance matrix needs"
        ):
            write_figure(selection, "significance", form, tmp_path)
    with pytest.raises(ValueError, match="no figure is called 'nothing'; the figures are loss"):
        write_figure(selection, "nothing", "csv", tmp_path)


def test_a_long_name_of_a_recipe_leaves_a_file_its_ending(tmp_path):
    found = groups_of(runs(recipe="quick+" + "model.hidden_dim=384+" * 9))
    path = write_figure(choose(found, found[0].name, None), "loss", "csv", tmp_path)
    assert path.suffix == ".csv"


def test_bundled_records_are_read_again_when_they_change(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    assert all_groups() == ()
    write_records(runs("standard"), tmp_path / "runs.jsonl")
    assert [len(group.runs["standard"]) for group in all_groups()] == [3]
    assert all_groups() is all_groups()
    write_records(published_records(), tmp_path / "runs.jsonl")
    assert [len(group.labels) for group in all_groups()] == [4]
