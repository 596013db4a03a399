"""Requests: checked at the door, and the same again after a link."""

from urllib.parse import parse_qsl

import pytest

from app.generate.settings import MOST_PROMPT, PARAMETERS, WritingRequest, read_query
from app.shelf.limits import LONGEST_WRITING
from tipshare import Sampling

MODELS = ["standard", "neural-ode"]


def query_of(request: WritingRequest) -> dict[str, str]:
    return dict(parse_qsl(request.to_query()[1:]))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"prompt": "In 1912 , & <b>\n😀", "temperature": 0.0, "seed": 7},
        {"top_k": 40, "top_p": 0.9, "min_p": 0.05, "penalty": 1.2, "length": 64, "steps": 12},
    ],
)
def test_a_link_brings_the_settings_back(changes):
    request = WritingRequest(models=tuple(MODELS), **changes)
    assert read_query(query_of(request), MODELS) == request


def test_a_link_leaves_defaults_out():
    assert WritingRequest(models=("standard",)).to_query() == "?tab=generate&models=standard"


def test_the_page_starts_with_the_settings_of_the_library():
    assert WritingRequest(models=("standard",)).sampling() == Sampling()


def test_an_address_without_settings_changes_nothing():
    assert read_query({"tab": "gates", "__theme": "dark"}, MODELS) is None


def test_models_of_a_link_that_are_not_here_are_left_out():
    assert read_query({"models": "standard,gone"}, MODELS).models == ("standard",)
    assert read_query({"models": "gone"}, MODELS).models == tuple(MODELS)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"seed": "soon"}, "the link says seed='soon', which is not a number"),
        ({"length": "1000000"}, f"length=1000000 must be a whole number, at least 1 and at most {LONGEST_WRITING}"),
        ({"temperature": "nan"}, "temperature=nan must be a finite number"),
    ],
)
def test_a_damaged_link_is_told_in_words(query, message):
    with pytest.raises(ValueError, match=message):
        read_query(query, MODELS)


def test_a_long_prompt_makes_no_link():
    with pytest.raises(ValueError, match="shorten the prompt"):
        WritingRequest(models=("standard",), prompt="a" * 100_000).to_query()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": ()}, "0 models are chosen: choose one to 4"),
        ({"models": tuple("abcde")}, "5 models are chosen"),
        ({"models": ("a", "a")}, "chosen twice"),
        ({"prompt": "a" * (MOST_PROMPT + 1)}, "the prompt has 1,000,001 characters"),
        ({"steps": 25}, "depth steps=25 must be a whole number, at least 0 and at most 24"),
        ({"top_p": 0.0}, "top_p=0.0 must be a finite number, above 0"),
        ({"seed": -1}, "seed=-1 must be a whole number"),
    ],
)
def test_bad_requests_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        WritingRequest(**{"models": ("standard",), **changes})


def test_controls_hand_out_floats_and_empty_fields():
    default = WritingRequest(models=("standard",))
    values = {name: getattr(default, name) for name in PARAMETERS}
    request = WritingRequest.of_controls(*{**values, "prompt": None, "models": ["standard"], "seed": 3.0}.values())
    assert request == WritingRequest(models=("standard",), seed=3)
    with pytest.raises(ValueError, match="seed=None must be a whole number"):
        WritingRequest.of_controls(*{**values, "seed": None}.values())
    with pytest.raises(ValueError, match=r"top-k=2.5 must be a whole number"):
        WritingRequest.of_controls(*{**values, "top_k": 2.5}.values())


@pytest.mark.parametrize("value", [float("inf"), float("nan"), True, "3"])
def test_what_is_no_whole_number_is_refused_in_words(value):
    values = {name: getattr(WritingRequest(models=("standard",)), name) for name in PARAMETERS}
    with pytest.raises(ValueError, match=f"seed={value!r} must be a whole number"):
        WritingRequest.of_controls(*{**values, "seed": value}.values())
