"""The blind test: nothing tells the models apart, an answer counts once, and chance is computed."""

import re

import pytest

import tipshare
from app.generate.blind import LENGTH, NAMES, BlindTest, answer, ask, at_least_by_chance, show_pair
from app.generate.measured import Measured

PROMPTS = ("The species is ",)


@pytest.fixture
def pair(shelf) -> BlindTest:
    return ask(shelf, Measured(), BlindTest(), PROMPTS)


def test_both_texts_continue_the_prompt_and_are_of_the_two_models(shelf, pair):
    # The records of the tiny models have one loss: the first of the smaller models is taken.
    assert set(pair.order) == {"standard", "time-indexed-mlp"}
    assert pair.prompt == PROMPTS[0]
    for name, text in zip(pair.order, pair.texts, strict=True):
        model = shelf.get(name).model
        assert text == tipshare.generate(model, pair.prompt, max_bytes=LENGTH, temperature=0.8, seed=pair.seed).text


def test_nothing_shown_tells_which_is_which(pair):
    shown = show_pair(pair)
    for word in (*pair.order, "Standard", "Time-Indexed", "style=", "data-o", "parameters"):
        assert word not in shown


def test_the_order_is_left_to_chance(shelf, monkeypatch):
    asked = []
    monkeypatch.setattr("app.generate.blind.random.sample", lambda names, count: asked.append(names) or list(names))
    pair = ask(shelf, Measured(), BlindTest(), PROMPTS)
    assert [set(names) for names in asked] == [set(pair.order)]


def test_an_answer_is_judged_and_counts_once(shelf, pair):
    smaller = NAMES[pair.order.index("time-indexed-mlp")]
    larger = NAMES[pair.order.index("standard")]
    right, words = answer(shelf, pair, smaller)
    assert (right.right, right.asked) == (1, 1)
    assert words.startswith('<p role="status"><strong>Right:')
    assert "You were right 1 of 1 times" in words
    wrong, words = answer(shelf, pair, larger)
    assert (wrong.right, wrong.asked) == (0, 1)
    assert "<strong>Wrong:" in words
    assert re.search(rf"{smaller} is Time-Indexed MLP \([\d.]+ k\)", words)
    with pytest.raises(ValueError, match="no pair to answer"):
        answer(shelf, right, smaller)
    again = ask(shelf, Measured(), right, PROMPTS)
    assert (again.right, again.asked, again.is_open) == (1, 1, True)


def test_chance_is_that_of_a_coin():
    assert at_least_by_chance(0, 0) == 1.0
    assert at_least_by_chance(1, 1) == 0.5
    assert at_least_by_chance(2, 3) == 0.5
    assert at_least_by_chance(5, 5) == 1 / 32
