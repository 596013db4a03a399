"""The table of kinds and weight sources: right for every cell of the grid, and complete without an entry."""

import pytest

import tipshare
from tests.factories import GRID
from tipshare import kinds
from tipshare.kinds import colour_of, equation_of, mark_of, rank_of, source_title, summary_of, title_of


def test_a_kind_at_its_defaults_is_described_by_its_own_sentence():
    sentences = {summary_of(tipshare.preset(kind)) for kind in tipshare.KINDS}
    assert len(sentences) == len(tipshare.KINDS)
    assert not any("variant" in each for each in sentences)


def test_an_ablation_is_described_by_its_fields_and_not_by_its_kind():
    tied = tipshare.StandardConfig(weights="tied")
    assert "weights of its own" not in summary_of(tied)
    assert "one block is shared by all depths, without gates" in summary_of(tied)
    assert r"W_i" not in equation_of(tied)


def test_a_state_space_that_does_not_see_the_input_is_not_called_selective():
    invariant = summary_of(tipshare.TimeIndexedSsmConfig(selective=False))
    assert "time-invariant state space, 64 states" in invariant
    assert "selective" not in invariant
    published = summary_of(tipshare.preset("time-indexed-ssm", "published"))
    assert "time-invariant state space without projections, 64 states" in published


@pytest.mark.parametrize(
    ("config", "part"),
    [
        (tipshare.TimeIndexedMlpConfig(), r"W \odot \sigma(g(t))"),
        (tipshare.TimeIndexedMlpConfig(gate="two-sigmoid"), r"2\,\sigma(g(t))"),
        (tipshare.TimeIndexedMlpConfig(gate="linear"), r"(1 + g(t))"),
        (tipshare.TimeIndexedMlpConfig(time="constant"), r"\sigma(g(0))"),
        (tipshare.TimeIndexedMlpConfig(step="euler"), r"\tfrac{1}{L}"),
        (tipshare.NeuralOdeConfig(), r"\tfrac{1}{L}"),
    ],
)
def test_the_equation_follows_weights_gate_step_and_time(config, part):
    assert part in equation_of(config)


def test_residual_steps_have_no_factor():
    assert r"\tfrac" not in equation_of(tipshare.NeuralOdeConfig(step="residual"))


@pytest.mark.parametrize("config", GRID.values(), ids=GRID.keys())
def test_every_cell_of_the_grid_has_words_and_an_equation(config):
    assert summary_of(config)
    assert equation_of(config).count("{") == equation_of(config).count("}")


def test_cells_of_the_grid_are_called_by_what_they_are():
    assert title_of("own + ssm, 0.8 M") == "State space with a block per layer, 0.8 M"
    assert title_of("time-indexed-ssm, tied") == "Time-Indexed SSM, tied"
    assert title_of("mine + ssm") == "mine + ssm"


def test_what_has_no_entry_is_shown_by_its_field_values(monkeypatch):
    others = {name: words for name, words in kinds.SOURCES.items() if name != "gated"}
    monkeypatch.setattr(kinds, "SOURCES", others)
    config = tipshare.TimeIndexedMlpConfig(step="euler")
    assert "'gated'" in summary_of(config)
    assert "W(t_i)" in equation_of(config)
    assert source_title("gated") == "gated"
    assert rank_of("new") > rank_of("time-indexed-ssm")
    assert colour_of("new").startswith("#")
    assert mark_of("new")
