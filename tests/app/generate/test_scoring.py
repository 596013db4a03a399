"""Scoring a visitor's text: the library's numbers, drawn side by side."""

import re

import pytest

from app.generate.scoring import score_in_turns, show_scores
from app.shelf.limits import LONGEST_SCORED
from tests.app.generate.test_tinted import shown_text

TEXT = "<b>naïve</b> text"


def test_scores_are_the_library_s_and_come_one_by_one(shelf):
    models = ["standard", "time-indexed-ssm"]
    stages = list(score_in_turns(shelf, TEXT, models))
    assert [[each.score is not None for each in stage] for stage in stages] == [
        [False, False],
        [True, False],
        [True, True],
    ]
    for each in stages[-1]:
        expected = shelf.get(each.listing.name).model.score(TEXT)
        assert each.score.bits_per_byte == expected.bits_per_byte
        assert len(each.as_json()["log_probs"]) == len(TEXT.encode())


def test_the_text_is_shown_as_text_beside_its_bars(shelf):
    *_, scored = score_in_turns(shelf, TEXT, shelf.names())
    markup = show_scores(TEXT, scored)
    assert "<b>" not in markup
    assert shown_text(markup).count(TEXT) == 4
    widths = [float(each) for each in re.findall(r"width:([\d.]+)%", markup)]
    assert len(widths) == 4
    assert max(widths) == 100.0
    assert markup.count("<strong>best</strong>") == 1
    assert "<strong>" not in show_scores(TEXT, scored[:1])  # nothing to be better than


@pytest.mark.parametrize(
    ("text", "models", "message"),
    [
        ("", ["standard"], "there is no text to score"),
        ("a" * (LONGEST_SCORED + 1), ["standard"], "at most 4,000; shorten it"),
        ("a", [], "0 models are chosen"),
        ("a", ["gone"], "there is no model 'gone'"),
    ],
)
def test_what_cannot_be_scored_is_told_in_words(shelf, text, models, message):
    with pytest.raises(ValueError, match=message):
        list(score_in_turns(shelf, text, models))
