"""Depth on the cards: loss and speed at the depth that is set, and a depth that is fixed."""

import dataclasses

import pytest

from app.generate.cards import show_head
from app.generate.dial import DEEPEST, SHALLOWEST, depth_in_words, loss_at, steps_of, usual_steps
from app.generate.measured import Measured
from tests.app.generate.test_tinted import shown_text


def with_record(listing, final, **settings):
    record = dataclasses.replace(listing.record, final=final, settings={**listing.record.settings, **settings})
    return dataclasses.replace(listing, record=record)


@pytest.fixture
def shared(shelf):
    """A model whose record has losses at some depths."""
    losses = {"valid_loss": 2.0, "valid_loss_at_steps_3": 2.5, "valid_loss_at_steps_12": 2.25}
    return with_record(shelf.describe("time-indexed-ssm"), losses)


def test_a_loss_is_that_of_its_depth_or_none(shared):
    assert [loss_at(shared, steps) for steps in (2, 3, 12, 7)] == [2.0, 2.5, 2.25, None]
    assert loss_at(dataclasses.replace(shared, record=None), 2) is None


def test_the_dial_moves_what_is_continuous_alone(shelf, shared):
    plain = shelf.describe("standard")
    assert [steps_of(shared, steps) for steps in (0, 2, 12)] == [2, 2, 12]
    assert [steps_of(plain, steps) for steps in (0, 2, 12)] == [2, 2, 2]
    assert depth_in_words(plain, 2) == "its depth is fixed: 2 layers"
    assert depth_in_words(shared, 2) == "2 depth steps"
    assert depth_in_words(shared, 12) == "12 depth steps (trained at 2)"
    elastic = with_record(shared, shared.record.final, depth_steps=[3, 4, 6, 8, 12])
    assert depth_in_words(elastic, 18) == "18 depth steps (trained at 3 to 12)"


def test_the_dial_stands_where_most_models_were_trained(shelf):
    listings = [shelf.describe(name) for name in shelf.names()]
    assert usual_steps(listings) == 2
    deep = [dataclasses.replace(each, config=each.config.replace(num_layers=30)) for each in listings]
    assert usual_steps(deep) == DEEPEST
    assert SHALLOWEST <= usual_steps([]) <= DEEPEST


def test_a_card_tells_loss_and_speed_at_the_depth_that_is_set(shelf):
    measured = Measured()
    measured.note_speed("time-indexed-ssm", 3, 64, 1234.5)
    measured.note_speed("standard", 2, 64, 99.0)
    at_two = shown_text(show_head(shelf, measured, "time-indexed-ssm", 2))
    assert "2.000 nats/byte" in at_two
    assert "speed not measured yet" in at_two
    at_three = shown_text(show_head(shelf, measured, "time-indexed-ssm", 3))
    assert "loss not measured at this depth" in at_three
    assert "nats/byte" not in at_three
    assert "1,234 B/s" in at_three
    fixed = shown_text(show_head(shelf, measured, "standard", 3))
    assert "its depth is fixed: 2 layers" in fixed
    assert "2.000 nats/byte" in fixed
    assert "99 B/s" in fixed


def test_a_few_bytes_give_no_speed():
    measured = Measured()
    measured.note_speed("standard", 2, 8, 99.0)
    assert measured.speed("standard", 2) is None
