"""What the Results tab shows of records: table, figures, words, files."""

import csv
import dataclasses
import io

import numpy as np
import pytest

from app.results.actions import FIGURES, control, curves, show, table_groups
from app.results.data import all_groups, choose, default_group, groups_of, mark_as_yours
from app.results.figures import smooth
from app.results.files import write_figure_data, write_figure_pdf, write_table
from app.results.tables import COLUMNS
from tests.training.results.factory import make_record, published_records, runs
from training.report.tables import show_loss
from training.results.records import write_records

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
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in results.table]
    assert [row["Model"] for row in rows] == ["Standard", "Neural ODE", "Time-Indexed MLP", "Time-Indexed SSM"]
    assert (rows[0]["Loss"], rows[0]["± 95 %"], rows[0]["Seeds"]) == (2.367, 0.031, 5)
    assert {row["Recipe"] for row in rows} == {"published-1000"}
    assert rows[0]["Memory (MB)"] == 400


def test_published_rows_stand_beside_ours_and_the_page_says_why_they_differ(groups):
    assert show(groups, "published-1000", KINDS, "measured").published == ""
    both = show(groups, "published-1000", KINDS, "both")
    assert [row[1] for row in both.table] == ["measured"] * 4 + ["published"] * 4
    assert "None of the four models is causal" in both.published
    assert "Published p-values, without correction" in both.published
    only = show(groups, "published-1000", ["standard"], "published")
    assert [row[:2] for row in only.table] == [["Standard", "published"]]
    assert "Nothing was published for grid" in show(groups, "grid", ["own + mlp"], "both").published


def test_hollow_marks_are_published_and_filled_ones_measured(groups):
    figure = show(groups, "published-1000", KINDS, "both").figures["loss_against_parameters"]
    symbols = {trace.name: trace.marker.symbol for trace in figure.data}
    assert symbols["Standard"] == "square"
    assert symbols["Standard, published"] == "square-open"
    assert figure.layout.xaxis.type == "log"


def test_figures_follow_the_chosen_models(groups):
    results = show(groups, "published-1000", ["standard", "time-indexed-ssm"], "measured")
    assert len(results.table) == 2
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
    verdicts = [verdict for row in matrix.z for verdict in row if verdict is not None]
    assert len(verdicts) == results.significance.count("<li>") == 6
    significant = results.significance.count(": significant at 0.05")
    assert sum(verdict != 0 for verdict in verdicts) == significant > 0
    assert "Hedges&#x27; g" in results.significance or "Hedges' g" in results.significance


def test_one_seed_has_no_interval_and_says_so(groups):
    results = show(groups, "published-3000", KINDS, "measured")
    assert results.table[0][6] is None
    assert "One seed, so no interval and no test" in results.notes
    assert "One seed has no spread to test" in said(results.figures["significance"])
    assert results.figures["loss"].data[1].error_x.array is None


def test_missing_data_is_said_where_the_figure_would_stand():
    bare = [dataclasses.replace(each, curve=[], speed={}) for each in runs("standard")]
    results = show(groups_of(bare), "published-1000", ["standard"], "measured")
    assert "Learning curves need runs with at least two evaluations." in said(results.figures["learning_curves"])
    assert "No run here has a step time." in said(results.figures["step_time"])
    assert "No runs fill 5 of the 8 cells" in said(results.figures["ablation_grid"])
    assert "No run was read with other numbers of depth steps" in said(results.figures["depth_steps"])


def test_no_records_and_no_models_are_said_in_words(groups):
    empty = show((), None, [], "measured")
    assert "There are no records yet" in empty.headline
    assert empty.table == []
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


def test_published_shapes_wait_to_be_chosen_and_brought_runs_do_not():
    shaped = make_record("neural-ode", loss=2.1, model="neural-ode, published shape")
    found = groups_of([*published_records(), shaped, *mark_as_yours([make_record("standard", loss=1.9)])])
    shown = control(found, None, "", None)
    assert shown.chosen == ["standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm", "standard (yours)"]
    assert "neural-ode, published shape" in [label for _, label in shown.models]


def test_curves_are_smoothed_by_a_mean_of_neighbours(groups):
    np.testing.assert_allclose(smooth(np.array([1.0, 2.0, 6.0]), 2), [1.5, 4.0])
    np.testing.assert_allclose(smooth(np.array([1.0, 2.0, 6.0]), 9), [3.0])
    choice = choose(groups, "published-1000", ["standard"], "measured")
    validation, training = curves(choice, "validation", 1), curves(choice, "training", 1)
    assert validation.data[1].y[-1] == pytest.approx(2.367, abs=1e-3)
    assert training.data[1].y[-1] == pytest.approx(2.267, abs=1e-3)
    with pytest.raises(ValueError, match="window=0 must be a whole number of points"):
        smooth(np.ones(3), 0)


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


def test_brought_runs_stand_beside_ours_even_if_they_repeat_them():
    ours = published_records()
    (group,) = groups_of([*ours, *mark_as_yours(ours[:5])])
    assert "standard (yours)" in group.labels
    assert len(group.runs["standard"]) == 5
    rows = show([group], group.name, group.labels, "measured").table
    assert ["Standard (yours)", 2.367] in [[row[0], row[5]] for row in rows]


def test_files_open_and_hold_the_numbers_of_the_table(groups, tmp_path):
    choice = choose(groups, "published-1000", KINDS, "both")
    path = write_table(choice, table_groups(choice, False, ""), "csv", tmp_path)
    lines = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [line["source"] for line in lines] == ["measured"] * 4 + ["published"] * 4
    assert float(lines[0]["loss"]) == pytest.approx(2.367188)
    everything = write_table(choice, table_groups(choice, True, ""), "csv", tmp_path).read_text()
    assert {line["recipe"] for line in csv.DictReader(io.StringIO(everything))} == {each.recipe for each in groups}
    latex = write_table(choice, table_groups(choice, False, ""), "tex", tmp_path).read_text()
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 1
    assert show_loss(choice.rows()[0]).split()[0] in latex


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_has_its_data_and_a_pdf(groups, tmp_path, figure):
    choice = choose(groups, "published-1000", KINDS, "measured")
    data = write_figure_data(choice, figure, tmp_path)
    assert len(list(csv.reader(io.StringIO(data.read_text())))) > 2
    pdf = write_figure_pdf(choice, figure, tmp_path)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf == write_figure_pdf(choice, figure, tmp_path)  # the same file, not another


def test_a_file_that_cannot_be_made_says_why(groups, tmp_path):
    choice = choose(groups, "published-3000", KINDS, "measured")
    with pytest.raises(ValueError, match="no PDF of this figure for published-3000: the significance matrix needs two"):
        write_figure_pdf(choice, "significance", tmp_path)
    with pytest.raises(ValueError, match="no figure is called 'nothing'; the figures are loss"):
        write_figure_data(choice, "nothing", tmp_path)


def test_bundled_records_are_read_again_when_they_change(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    assert all_groups() == ()
    write_records(runs("standard"), tmp_path / "runs.jsonl")
    assert [len(group.runs["standard"]) for group in all_groups()] == [3]
    assert all_groups() is all_groups()
    write_records(published_records(), tmp_path / "runs.jsonl")
    assert [len(group.labels) for group in all_groups()] == [4]
    brought = [each.to_json() for each in mark_as_yours(runs("standard"))]
    assert [len(group.labels) for group in all_groups(brought)] == [5]
