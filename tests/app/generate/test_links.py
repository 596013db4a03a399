"""A link brings its texts too: the page that it opens asks for a run with the link's own settings."""

import json
from types import SimpleNamespace
from urllib.parse import parse_qsl

import gradio as gr
import pytest

from app.generate.actions import GenerateActions
from app.generate.active_runs import Runs
from app.generate.settings import WritingRequest


@pytest.fixture
def opened(shelf):
    """What the page's components get when an address is opened: controls, cards, texts, a run, a timer, settings."""
    actions = GenerateActions(shelf, Runs())
    return lambda query: actions.open_page(SimpleNamespace(query_params=dict(parse_qsl(query))))


@pytest.mark.parametrize("steps", [3, 18])
def test_a_link_asks_for_a_run_with_its_settings(opened, steps):
    request = WritingRequest(models=("standard",), prompt="She was ", temperature=0.5, seed=7, length=40, steps=steps)
    *controls, _, texts, linked, _, settings = opened(request.to_query()[1:])
    assert WritingRequest.of_controls(*json.loads(linked)) == request
    assert (controls[0], controls[-1]) == ("She was ", steps)
    assert texts == gr.skip()  # no example takes the place of the link's own text
    assert settings.open  # what the link sets is to be seen


def test_without_a_depth_a_link_means_the_usual_one(opened):
    *_, linked, _, _ = opened("seed=7")
    asked = WritingRequest.of_controls(*json.loads(linked))
    assert (asked.seed, asked.steps, len(asked.models)) == (7, 2, 4)


@pytest.mark.parametrize(("steps", "nearest"), [(1, 2), (24, 18)])
def test_a_depth_beyond_the_dial_is_the_nearest_that_it_has(opened, steps, nearest):
    *controls, _, _, linked, _, settings = opened(f"steps={steps}")
    assert controls[-1] == WritingRequest.of_controls(*json.loads(linked)).steps == nearest
    assert settings == gr.skip()


@pytest.mark.parametrize("query", ["", "tab=generate", "seed=soon"])
def test_other_addresses_ask_for_no_run(opened, query):
    *_, texts, linked, _, _ = opened(query)
    assert linked == gr.skip()
    assert texts["run"] == 0


@pytest.mark.parametrize("query", ["tab=gates&seed=7", "tab=gates&prompt=x", "tab=train&steps=300"])
def test_a_link_to_another_tab_is_none_to_this_one(opened, query):
    assert opened(query)[0] == opened("")[0] == gr.skip()
    assert opened(query)[-4:-2] == opened("")[-4:-2]
