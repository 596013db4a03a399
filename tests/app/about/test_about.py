"""The About tab: numbers are counted, pictures are drawn for every kind, and the commands exist."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

import tipshare
from app.about.picture import draw_model
from app.about.tab import HERE, compare_kinds, shown_configs
from tipshare.kinds import colour_of
from training.__main__ import main
from training.results.formatting import count_in_words

USE = (HERE / "use.md").read_text(encoding="utf-8")


def test_the_table_counts_every_kind():
    configs = [tipshare.preset(kind) for kind in ("standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm")]
    rows = re.findall(r"<tr>.*?</tr>", compare_kinds(configs))[1:]
    assert len(rows) == len(tipshare.KINDS)
    for kind, row in zip(("standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm"), rows, strict=True):
        config = tipshare.preset(kind)
        assert f">{count_in_words(tipshare.count_parameters(config).total)}<" in row
        assert f">{count_in_words(tipshare.count_parameters(config, frozen=True).total)}<" in row
    assert "the same" in rows[0]
    assert "x more" in rows[1]
    assert "x fewer" in rows[2]


def test_sizes_are_those_of_the_models_on_the_page(shelf):
    for config in shown_configs(shelf):
        assert config == shelf.describe(config.kind).config
    assert "2 depth steps, width 32, 2 heads, context 64 bytes" in compare_kinds(shown_configs(shelf))


@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_each_drawing_is_whole_and_in_its_colour(kind):
    drawing = ElementTree.fromstring(draw_model(tipshare.preset(kind)))
    assert drawing.get("aria-label")
    assert colour_of(kind) in drawing.get("style", "")
    blocks = [each for each in drawing.iter("rect") if each.get("x") == "100"]
    assert len(blocks) == 6
    states = [each for each in drawing.iter("path") if each.get("class") == "state-path"]
    assert len(states) == (6 if kind == "time-indexed-ssm" else 0)


def test_the_idea_is_whole_markup():
    ElementTree.fromstring(f"<div>{(HERE / 'idea.html').read_text(encoding='utf-8')}</div>")


@pytest.mark.parametrize("verb", re.findall(r"^python -m training (\w+)", USE, re.MULTILINE))
def test_the_commands_shown_exist(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert f"usage: python -m training {verb}" in capsys.readouterr().out
