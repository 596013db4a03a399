"""Figures: what they show, and when there is none."""

import re
from dataclasses import replace
from pathlib import Path

import matplotlib

from tests.training.results.factory import group_of, make_record, published_records, runs, tuned_run
from tipshare.config import KINDS
from tipshare.kinds import LOOKS, NEUTRAL, colour_of, title_of
from training.report.drawings import draw_view
from training.report.figure_style import STYLE
from training.report.figures import write_figures
from training.results.selection import Selection
from training.results.summaries import LOSS
from training.results.views import FIGURES


def draw(name, group):
    with matplotlib.rc_context(STYLE):
        return draw_view(FIGURES[name](Selection(group=group)))


def test_every_kind_has_a_colour_a_mark_and_a_title_of_its_own():
    assert list(LOOKS) == list(KINDS)
    for name in ("colour", "mark", "title", "summary"):
        assert len({getattr(look, name) for look in LOOKS.values()}) == len(KINDS)
    assert title_of("time-indexed-ssm, t constant") == "Time-Indexed SSM, t constant"
    assert (colour_of("other"), title_of("other")) == (NEUTRAL.colour, "other")


def test_figures_without_data_are_skipped_with_a_note_and_old_ones_removed(tmp_path):
    (tmp_path / "significance.png").write_bytes(b"of an earlier report")
    files, notes = write_figures(Selection(group=group_of(make_record()), source="measured"), tmp_path)
    assert {each.stem for each in files} == {"loss", "step_time", "learning_curves"}
    assert {each.suffix for each in files} == {".png", ".pdf"}
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(each.name for each in files)
    missing = {re.match(r"No figure (\w+): .*(needs|no run)", note)[1] for note in notes}
    assert missing == {"loss_against_parameters", "significance", "ablation_grid", "depth_steps"}
    assert Path(tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert Path(tmp_path / "loss.pdf").read_bytes().startswith(b"%PDF")


def is_large(mark) -> bool:
    return mark.get_markersize() > 5


def test_the_loss_figure_shows_published_marks_hollow_and_ours_filled():
    axes = draw("loss", group_of(*published_records())).axes[0]
    marks = {look.mark for look in LOOKS.values()}
    faces = [each.get_markerfacecolor() for each in axes.lines if each.get_marker() in marks and is_large(each)]
    assert faces.count("white") == 4
    assert [colour for colour in faces if colour != "white"] == [look.colour for look in LOOKS.values()]
    seeds = [each for each in axes.lines if each.get_marker() in marks and not is_large(each)]
    assert len(seeds) == 4 * 5 * 2
    plain = draw("loss", group_of(*runs(recipe="quick"))).axes[0]
    assert "white" not in [line.get_markerfacecolor() for line in plain.lines if line.get_marker() == "s"]


def test_the_significance_matrix_has_a_cell_for_every_pair():
    axes = draw("significance", group_of(*published_records())).axes[0]
    texts = [each.get_text() for each in axes.texts]
    assert len(texts) == 6
    assert "-0.220\np 0.0614\ng -2.0" in texts  # row SSM minus column Standard


def test_the_ablation_grid_has_a_text_for_every_cell_that_was_run():
    cells = [("own", "mlp"), ("own", "ssm"), ("gated", "mlp"), ("gated", "ssm"), ("tied", "mlp")]
    records = [
        make_record(model=f"{weights} + {mixer}", loss=place, config={"weights": weights, "mixer": mixer})
        for place, (weights, mixer) in enumerate(cells)
    ]
    axes = draw("ablation_grid", group_of(*records)).axes[0]
    assert len([each for each in axes.texts if "parameters" in each.get_text()]) == 5
    assert len([patch for patch in axes.patches if patch.get_hatch()]) == 1  # tied + ssm was not run


def test_published_marks_alone_have_a_legend_of_their_kinds():
    view = FIGURES["loss_against_parameters"](Selection(group=group_of(*published_records()), source="published"))
    with matplotlib.rc_context(STYLE):
        (legend,) = draw_view(view).legends
    titles = [each.get_text() for each in legend.get_texts()]
    assert titles[:4] == [look.title for look in LOOKS.values()]
    assert titles[-1] == "published: not causal, see the notes"


def test_every_device_has_a_panel_of_step_times():
    panels = draw("step_time", group_of(*published_records())).axes
    assert [panel.get_title("left") for panel in panels] == ["cpu", "NVIDIA A100"]


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


def test_names_of_variants_lie_on_no_other_name_and_on_no_mark():
    """Three models of nearly the same size and loss, two of which are told apart by their names alone."""
    sizes = {"time-indexed-ssm": 777_000, "time-indexed-ssm, tied": 642_000, "own + ssm, 0.8 M": 813_000}
    weights = ("gated", "tied", "own")
    records = [
        tuned_run("time-indexed-ssm", 0, model=label, parameters={"total": size}, final={LOSS: 1.38 + size / 1e9})
        for label, size in sizes.items()
    ]
    records = [replace(run, config={**run.config, "weights": each}) for run, each in zip(records, weights, strict=True)]
    figure = draw("loss_against_parameters", group_of(*records, tuned_run("standard", 0)))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    names = [each for each in axes.texts if each.get_text() in set(map(title_of, sizes)) and each.get_visible()]
    assert [each.get_text() for each in names] == [
        "Time-Indexed SSM, tied",
        "State space with a block per layer, 0.8 M",
    ]
    boxes = [each.get_window_extent() for each in names]
    assert not boxes[0].overlaps(boxes[1])
    marks = axes.transData.transform([(size, 1.38 + size / 1e9) for size in sizes.values()])
    assert not any(box.contains(*mark) for box in boxes for mark in marks)


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
