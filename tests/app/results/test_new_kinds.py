"""A kind and a weight source that no table of words knows yet are shown all the same."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import matplotlib
import pytest

from app.about.picture import draw_model
from app.about.tab import compare_kinds, picture_kinds, shown_configs
from app.results.actions import show
from app.results.data import groups_of
from app.results.words import headline_html
from tests.training.results.factory import make_record, runs
from tipshare.config import KINDS, ModelConfig
from tipshare.kinds import NEUTRAL, SOURCES
from training.report.drawings import draw_view
from training.report.figure_style import STYLE
from training.report.tables import to_latex, to_markdown
from training.results.selection import Selection
from training.results.views import FIGURES
from training.results.views.ablations import ablation_table
from training.results.views.losses import results_table


@dataclass(frozen=True, kw_only=True)
class SpiralConfig(ModelConfig):
    kind: ClassVar[str] = "spiral"

    mlp_ratio: float = 2.0


@dataclass(frozen=True, kw_only=True)
class FoldedConfig(ModelConfig):
    kind: ClassVar[str] = "folded"

    weights: Literal["folded", "own", "gated", "tied"] = "folded"  # pyright: ignore[reportIncompatibleVariableOverride]
    mixer: Literal["mlp", "ssm", "wave"] = "mlp"  # pyright: ignore[reportIncompatibleVariableOverride]


@pytest.fixture
def new_kinds(monkeypatch):
    for config in (SpiralConfig, FoldedConfig):
        monkeypatch.setitem(KINDS, config.kind, config)


@pytest.fixture
def groups(new_kinds):
    """Runs of the new kinds at several depths, in all cells of a grid with a new source and a new mixer."""
    grid = [
        make_record("folded", seed, 1.5 + seed / 10, model=f"{weights} + {mixer}", config=config, final=final)
        for weights in ("own", "folded")
        for mixer in ("mlp", "ssm", "wave")
        for seed in (0, 1)
        for config in [{"weights": weights, "mixer": mixer}]
        for final in [{"valid_loss": 1.5 + seed / 10, "valid_loss_at_steps_2": 1.6, "valid_loss_at_steps_4": 1.7}]
    ]
    return groups_of([*runs(), *runs("spiral", (1.0, 1.1, 1.3)), *grid])


@pytest.mark.parametrize("name", FIGURES)
def test_both_libraries_draw_them(groups, name):
    view = FIGURES[name](Selection(group=groups[0]))
    assert not view.missing
    with matplotlib.rc_context(STYLE):
        draw_view(view).draw_without_rendering()
    shown = show(groups, groups[0].name, groups[0].labels, "measured").figures[name]
    assert shown.data


def test_they_have_neutral_looks_and_their_own_names(groups):
    figure = show(groups, groups[0].name, groups[0].labels, "measured").figures["loss_against_parameters"]
    marks = {trace.name: (trace.marker.color, trace.marker.symbol) for trace in figure.data}
    assert marks["spiral"] == (NEUTRAL.colour, "x")
    grid = FIGURES["ablation_grid"](Selection(group=groups[0]))
    rows = (SOURCES["own"].title, "folded")
    assert [(cell.row, cell.column) for cell in grid.points] == [
        (row, column) for row in rows for column in ("MLP", "state space", "wave")
    ]


def test_tables_and_sentences_name_them(groups):
    table = results_table(Selection(group=groups[0]))
    assert "| spiral |" in to_markdown(table)
    assert "spiral &" in to_latex(table)
    assert "spiral" in headline_html(Selection(group=groups[0], source="measured"))
    cells = {("folded", "wave"): groups[0].runs["folded + wave"]}
    assert "| folded |" in to_markdown(ablation_table(cells))


def test_the_about_tab_counts_and_pictures_them(monkeypatch, shelf):
    monkeypatch.setitem(KINDS, "spiral", SpiralConfig)
    configs = shown_configs(shelf)
    assert compare_kinds(configs).count("<tr>") == 1 + len(KINDS)
    assert 'style="background:#444444"' in compare_kinds(configs)
    assert "spiral" in compare_kinds(configs)
    assert "A variant of spiral: attention followed by MLP, 2x" in picture_kinds(configs)


def test_a_new_source_has_a_picture(new_kinds):
    assert "W(1/6)" in draw_model(FoldedConfig())
    assert "folded" in draw_model(FoldedConfig())
