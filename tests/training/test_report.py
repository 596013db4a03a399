"""Reports: which runs share a table, what tables and sentences say, and which figures are drawn."""

import csv
import io
import json
import re
from pathlib import Path

import matplotlib
import pytest

from tests.training.factory import make_record, published_records
from tipshare.config import KINDS, StandardConfig
from tipshare.parameters import count_parameters
from training.figure_style import STYLE, MissingDataError
from training.figures import FIGURES, write_figures
from training.grid_figures import grid_cells
from training.groups import choose_group, group_records
from training.palette import COLOURS, MARKS, TITLES, colour_of, title_of
from training.published import PUBLISHED, published_for
from training.report import headline, results_table_markdown, section_of, significance_table_markdown, write_report
from training.result_rows import result_rows
from training.significance import compare_group
from training.statistics import LOSS
from training.tables import count_in_words, results_csv, results_latex, results_markdown, show_p, significance_csv
from training.wording import headline_of, notes_on, significance_in_words


def group_of(*records):
    (group,) = group_records(records)
    return group


def runs(kind="standard", losses=(2.0, 2.1, 2.2), **changes):
    return [make_record(kind, seed, loss, **changes) for seed, loss in enumerate(losses)]


def draw(name, group):
    with matplotlib.rc_context(STYLE):
        return FIGURES[name](group, LOSS)


# Which runs share a table


def test_recipes_corpora_budgets_and_data_never_share_a_group():
    records = [
        make_record(),
        make_record(recipe="quick"),
        make_record(recipe="quick", settings={"corpus": "shakespeare"}),
        make_record(recipe="quick", settings={"corpus": "shakespeare", "num_steps": 2000}, num_steps=2000),
        make_record(recipe="quick", settings={"corpus": "shakespeare"}, data={"train": {"sha256": "1" * 64}}),
    ]
    groups = group_records(records)
    assert len(groups) == 5
    assert len({each.name for each in groups}) == 5
    assert all(re.fullmatch(r"[\w.=+-]+", each.name) for each in groups)
    assert groups[0].name == "published-1000"
    assert groups[1].name == "quick-wikitext-2"


def test_names_of_groups_cannot_leave_the_folder():
    (group,) = group_records([make_record(recipe="../../etc/passwd")])
    assert "/" not in group.name
    assert not group.name.startswith(".")


def test_a_question_that_fits_several_groups_is_refused_with_the_choices():
    records = [make_record(), make_record(settings={"corpus": "shakespeare"}), make_record(recipe="quick")]
    with pytest.raises(ValueError, match=r"fits 2 groups.*published-1000-wikitext-2, published-1000-shakespeare"):
        results_table_markdown(records, recipe="published-1000")
    with pytest.raises(ValueError, match=r"no run of recipe='nothing'.*quick"):
        results_table_markdown(records, recipe="nothing")
    with pytest.raises(ValueError, match="no records"):
        results_table_markdown([])
    assert choose_group(records, recipe="published-1000", corpus="shakespeare").corpus == "shakespeare"
    assert choose_group(records, recipe="published-1000-shakespeare").corpus == "shakespeare"
    assert "Standard" in results_table_markdown(records, recipe="quick")


def test_kinds_come_first_and_in_order_whatever_the_order_of_the_records():
    records = [make_record(kind) for kind in reversed(KINDS)]
    records.insert(0, make_record("neural-ode", model="neural-ode, t constant", config={"time": "constant"}))
    assert group_of(*records).labels == (*KINDS, "neural-ode, t constant")


def test_two_models_under_one_label_are_told_apart():
    group = group_of(*runs(), *runs(config={"hidden_dim": 32}))
    assert group.labels == ("standard (hidden_dim=16)", "standard (hidden_dim=32)")
    assert [len(each) for each in group.runs.values()] == [3, 3]


def test_a_run_given_twice_counts_once():
    assert [run.final[LOSS] for run in group_of(make_record(loss=2.0), make_record(loss=1.9)).runs["standard"]] == [1.9]


# Tables


def test_the_results_table_has_all_columns_and_the_lowest_loss_in_bold():
    table = results_markdown(group_of(*runs(), *runs("time-indexed-mlp", (1.0, 1.1, 1.2))))
    heading, _, standard, shared = table.splitlines()
    plain = count_parameters(StandardConfig(num_layers=2, hidden_dim=16, num_heads=2, max_position_embeddings=16)).total
    for column in ("model", "parameters", "effective", "loss (nats/byte)", "seeds", "bits/byte", "ms/step", "memory"):
        assert column in heading
    assert f"against plain {count_in_words(plain)}" in heading
    assert "**1.100 ± 0.248**" in shared
    assert "| Standard |" in standard
    assert "2.100 ± 0.248 | 3 | 3.030 | 20.0 | 400 |" in standard
    assert "**" not in standard


def test_one_seed_shows_no_interval():
    (line,) = results_markdown(group_of(make_record())).splitlines()[2:]
    assert "| 2.000 | 1 |" in line
    assert "±" not in line


def test_published_rows_follow_ours_with_their_true_intervals():
    table = results_markdown(group_of(*runs()), source="both")
    assert table.count("| published |") == 4
    assert "2.147 ± 0.173" in table
    assert "6.8x smaller" in table
    assert "63.3x larger" in table
    assert results_markdown(group_of(*runs(recipe="quick")), source="both").count("published") == 0
    with pytest.raises(ValueError, match="source='ours' is not one of measured, published, both"):
        result_rows(group_of(*runs()), source="ours")


def test_compression_is_against_a_plain_transformer_of_the_same_size():
    group = group_of(
        *runs("time-indexed-mlp", model="a", config={"num_layers": 2}),
        *runs("time-indexed-mlp", model="b", config={"num_layers": 4}),
    )
    first, second = result_rows(group)
    assert second.plain > first.plain
    assert first.compression == first.plain / first.parameters
    assert "against plain of its size" in results_markdown(group)


def test_csv_is_unrounded_and_reads_back():
    group = group_of(*runs(losses=(2.0, 2.1, 2.23456789)), *runs("neural-ode", (1.0,)))
    first, second = csv.DictReader(io.StringIO(results_csv(group)))
    assert float(first["mean"]) == group_summary_mean(group)
    assert (first["model"], first["seeds"], second["deviation"], second["low"]) == ("standard", "3", "", "")
    (pair,) = csv.DictReader(io.StringIO(significance_csv(group)))
    assert (pair["common_seeds"], pair["test"], pair["p_value"]) == ("1", "", "")


def group_summary_mean(group):
    return sum(run.final[LOSS] for run in group.runs["standard"]) / 3


def test_latex_uses_booktabs_and_escapes_labels():
    group = group_of(*runs(model="standard, 50% & a_b"), *runs("neural-ode", (1.0, 1.1, 1.2)))
    text = results_latex(group)
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"50\% \& a\_b", r"\textbf{1.100 $\pm$ 0.248}"):
        assert part in text
    assert "±" not in text
    columns = re.search(r"tabular\}\{(\w+)\}", text)[1]
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.split(r"(?<!\\)&", line)) for line in body} == {len(columns)}


def test_a_label_with_a_bar_does_not_break_the_markdown_table():
    table = results_markdown(group_of(*runs(model="standard | wide")))
    assert r"Standard \| wide" in table


@pytest.mark.parametrize(
    ("p_value", "shown"), [(0.0625, "0.0625"), (3.505e-5, "3.5e-5"), (1.0, "1"), (1e-300, "1.0e-300"), (None, "n/a")]
)
def test_p_values_are_never_shown_as_zero(p_value, shown):
    assert show_p(p_value) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(308_460_480, "308 M"), (4_871_168, "4.87 M"), (715_840, "716 k"), (12, "12")]
)
def test_counts_in_words(count, shown):
    assert count_in_words(count) == shown


# Sentences


def test_the_headline_compares_the_best_shared_model_with_the_plain_one():
    sentence = headline(published_records(), recipe="published-1000")
    assert sentence.startswith("After 1,000 steps on wikitext-2, Time-Indexed SSM reaches 2.147 ± 0.173 nats per byte")
    assert "Standard reaches 2.367 ± 0.031" in sentence
    assert "Time-Indexed SSM is 0.220 lower, not significant (paired t test over 5 seeds, p = 0.0614" in sentence


def test_the_headline_of_one_model_and_of_ablations():
    alone = headline_of(group_of(make_record("time-indexed-mlp", loss=1.5)))
    assert alone.startswith("After 1,000 steps on wikitext-2, Time-Indexed MLP reaches 1.500 nats per byte")
    single = headline_of(group_of(make_record(loss=2.0), make_record("neural-ode", loss=1.5)))
    assert single.endswith("Neural ODE is 0.500 lower, on one seed and so without a test.")
    ablation = headline_of(
        group_of(*runs(model="own + mlp"), *runs("time-indexed-mlp", (1.0, 1.1), model="tied + mlp"))
    )
    assert "the best of 2 models, tied + mlp, reaches 1.050" in ablation


def test_significance_in_words():
    words = {
        (each.first, each.second): significance_in_words(each) for each in compare_group(group_of(*published_records()))
    }
    open_pair = words["time-indexed-mlp", "time-indexed-ssm"]
    assert "Time-Indexed MLP has a higher loss than Time-Indexed SSM by 0.084" in open_pair
    assert "includes zero" in open_pair
    assert "not significant at 0.05" in open_pair
    clear = words["standard", "time-indexed-mlp"]
    assert "p = 2.8e-5, corrected for all pairs 1.7e-4: significant at 0.05" in clear
    assert "p = 0.0625, the least that 5 seeds can give" in clear


def test_degenerate_comparisons_in_words():
    (one,) = compare_group(group_of(make_record(), make_record("neural-ode", loss=1.0)))
    assert "One seed is not enough for a test" in significance_in_words(one)
    (same,) = compare_group(group_of(*runs(), *runs("neural-ode")))
    assert "have the same loss" in significance_in_words(same)
    (constant,) = compare_group(group_of(*runs(), *runs("neural-ode", (1.0, 1.1, 1.2))))
    assert "no spread to test it against" in significance_in_words(constant)


def test_notes_say_how_many_seeds_are_paired_and_that_devices_differ():
    group = group_of(
        *runs(losses=(2.0, 2.1, 2.2, 2.3)),
        *runs("neural-ode", (1.0, 1.1), machine={"device": "NVIDIA A100"}),
        make_record("time-indexed-mlp", 0, final={"test_loss": 1.0}),
    )
    notes = "\n".join(notes_on(group))
    assert "Standard (4) and Neural ODE (2) share 2" in notes
    assert "several devices (NVIDIA A100, cpu)" in notes
    assert "for want of valid_loss: Time-Indexed MLP" in notes


# Figures


def test_every_kind_has_a_colour_a_mark_and_a_title_of_its_own():
    for table in (COLOURS, MARKS, TITLES):
        assert list(table) == list(KINDS)
        assert len(set(table.values())) == len(KINDS)
    assert title_of("time-indexed-ssm, t constant") == "Time-Indexed SSM, t constant"
    with pytest.raises(ValueError, match="no colour for the kind 'other'"):
        colour_of("other")


def test_figures_without_data_are_skipped_with_a_note_and_old_ones_removed(tmp_path):
    (tmp_path / "significance.png").write_bytes(b"of an earlier report")
    files, notes = write_figures(group_of(make_record()), tmp_path)
    assert {each.stem for each in files} == {"loss", "step_time", "learning_curves"}
    assert {each.suffix for each in files} == {".png", ".pdf"}
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(each.name for each in files)
    missing = {re.match(r"No figure (\w+): .*needs", note)[1] for note in notes}
    assert missing == {"loss_against_parameters", "significance", "ablation_grid", "depth_steps"}
    assert Path(tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert Path(tmp_path / "loss.pdf").read_bytes().startswith(b"%PDF")


def test_the_loss_figure_shows_published_marks_hollow_and_ours_filled():
    axes = draw("loss", group_of(*published_records())).axes[0]
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() in MARKS.values()]
    assert faces.count("white") == 4
    assert [colour for colour in faces if colour != "white"] == list(COLOURS.values())
    plain = draw("loss", group_of(*runs(recipe="quick"))).axes[0]
    assert "white" not in [line.get_markerfacecolor() for line in plain.lines if line.get_marker() == "s"]


def test_the_significance_matrix_has_a_cell_for_every_pair():
    axes = draw("significance", group_of(*published_records())).axes[0]
    texts = [each.get_text() for each in axes.texts]
    assert len(texts) == 6
    assert "-0.220\np = 0.0614" in texts  # row SSM minus column Standard


def test_the_ablation_grid_takes_the_plainest_model_of_a_cell():
    cells = [("own", "mlp"), ("own", "ssm"), ("gated", "mlp"), ("gated", "ssm"), ("tied", "mlp")]
    records = [
        make_record(model=f"{weights} + {mixer}", loss=place, config={"weights": weights, "mixer": mixer})
        for place, (weights, mixer) in enumerate(cells)
    ]
    other = make_record(model="own, no positions", loss=9.0, config={"positions": "none"})
    group = group_of(other, *records)
    for order in ((other, *records), (*records, other)):
        assert grid_cells(group_of(*order))["own", "mlp"][0] == "own + mlp"
    assert set(grid_cells(group)) == set(cells)
    texts = [each.get_text() for each in draw("ablation_grid", group).axes[0].texts]
    assert len([text for text in texts if "parameters" in text]) == 5
    with pytest.raises(MissingDataError, match="needs 5 of its 8 cells, not 4"):
        draw("ablation_grid", group_of(other, *records[:-1]))


def test_depth_steps_are_drawn_from_final_numbers_in_order():
    final = {LOSS: 2.0, "valid_loss_at_steps_12": 2.1, "valid_loss_at_steps_2": 2.4, "valid_loss_at_steps_1x": 0.0}
    axes = draw("depth_steps", group_of(make_record("time-indexed-mlp", final=final))).axes[0]
    assert list(axes.lines[0].get_xdata()) == [2, 12]
    assert list(axes.lines[0].get_ydata()) == [2.4, 2.1]


def test_depth_steps_are_drawn_for_models_trained_at_several_depths():
    records = [
        make_record(model=f"standard, {depth} depth steps", loss=3 - depth / 10, config={"num_layers": depth})
        for depth in (4, 2, 8)
    ]
    axes = draw("depth_steps", group_of(*records)).axes[0]
    assert list(axes.lines[0].get_xdata()) == [2, 4, 8]


def test_learning_curves_average_the_steps_that_all_seeds_have():
    records = [
        make_record(seed=1, curve=[[100, 4.0], [200, 3.0], [300, 2.0]]),
        make_record(seed=2, curve=[[100, 5.0], [300, 3.0]]),
    ]
    line = draw("learning_curves", group_of(*records)).axes[0].lines[0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([100, 300], [4.5, 2.5])


def test_many_curves_get_a_panel_per_kind():
    records = [
        make_record(kind, model=f"{kind}, {depth} depth steps", config={"num_layers": depth})
        for kind in ("standard", "time-indexed-ssm")
        for depth in (1, 2, 3, 4)
    ]
    panels = draw("learning_curves", group_of(*records)).axes
    assert [len(each.lines) for each in panels] == [4, 4]


def test_titles_of_changed_recipes_stay_inside_the_figure():
    group = group_of(*runs(recipe="published-1000+learning_rate=0.001+model.hidden_dim=384+model.num_layers=12"))
    figure = draw("loss", group)
    figure.draw_without_rendering()
    (title,) = [each for each in figure.texts if "hidden_dim" in each.get_text().replace("\n", "")]
    assert title.get_window_extent().x1 < figure.bbox.x1


# The report as a whole


def test_a_report_of_several_recipes(tmp_path):
    records = [*published_records(), make_record("time-indexed-mlp", recipe="quick", loss=1.5)]
    report = write_report(records, tmp_path)
    assert all(each.is_file() for each in report.files)
    assert not list(tmp_path.rglob("*.tmp"))
    summary = json.loads((tmp_path / "statistics_summary.json").read_text())
    assert [each["name"] for each in summary["groups"]] == ["published-1000", "quick"]
    ssm = summary["groups"][0]["models"]["time-indexed-ssm"]["metrics"]["valid_loss"]
    assert (ssm["low"], ssm["high"]) == pytest.approx((1.974, 2.319), abs=5e-4)
    assert summary["groups"][1]["models"]["time-indexed-mlp"]["metrics"]["valid_loss"]["low"] is None
    tests = json.loads((tmp_path / "significance_tests.json").read_text())
    assert [len(each["comparisons"]) for each in tests["groups"]] == [6, 0]
    first = tests["groups"][0]["comparisons"][0]
    assert first["paired"]["p_value"] == pytest.approx(0.0205, abs=1e-4)
    assert first["paired"]["p_holm"] > first["paired"]["p_value"]
    text = (tmp_path / "report.md").read_text()
    assert text.count("\n## ") == 2
    for link in re.findall(r"!\[[\w ]+\]\(([^)]+)\)", text):
        assert (tmp_path / link).is_file()
    assert {each.suffix for each in (tmp_path / "quick").iterdir()} == {".md", ".tex", ".csv", ".png", ".pdf"}
    assert any(note.startswith("quick: No figure significance") for note in report.notes)


def test_a_report_without_the_metric_names_those_there_are(tmp_path):
    with pytest.raises(ValueError, match="no record has the final number 'accuracy'; the records have valid_loss"):
        write_report([make_record()], tmp_path, metric="accuracy")
    with pytest.raises(ValueError, match="the records have none"):
        write_report([], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_section_says_what_is_wrong_with_the_published_rows():
    section = section_of(group_of(*published_records()))
    assert "None of the four models is causal" in section
    assert "standard deviation with n" in section
    assert "causal" not in section_of(group_of(*runs(recipe="quick")))


def test_published_tables_are_complete():
    assert set(PUBLISHED) == {"published-1000", "published-3000", "wikitext-103"}
    assert published_for("quick") is None
    for experiment in PUBLISHED.values():
        for result in experiment.results:
            assert result.kind in KINDS
            assert len(result.seed_losses) in (0, len(experiment.seeds))
            assert not result.curve or result.curve[-1][1] == pytest.approx(result.loss, abs=5e-4)


def test_significance_table_has_a_line_for_every_pair():
    lines = significance_table_markdown(published_records(), recipe="published-1000").splitlines()
    assert len(lines) == 2 + 6
    assert "| Standard | Neural ODE | +0.031 | +0.008 to +0.054 | 5 | 0.0205 | 0.0631 | 0.0625 |" in lines[2]
