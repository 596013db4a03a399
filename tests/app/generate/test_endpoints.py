"""The page for other programs: `gradio_client` against a running demo."""

import json
import re
from pathlib import Path

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from app.generate.settings import PARAMETERS, WritingRequest

ALL = ["standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm"]


@pytest.fixture(scope="module")
def client(server) -> Client:
    return Client(server.address, verbose=False, analytics_enabled=False)


def controls(**changes) -> list:
    """The values of the page's controls, in their order."""
    request = WritingRequest(**{"models": tuple(ALL), "length": 40, **changes})
    return [list(value) if isinstance(value, tuple) else value for value in (getattr(request, n) for n in PARAMETERS)]


def test_the_models_are_listed(client):
    listed = client.predict(api_name="/models")
    assert [each["name"] for each in listed] == ALL
    assert all(each["valid_loss"] == 2.0 for each in listed)


def test_the_guide_s_client_works(server):
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "try.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert "http://127.0.0.1:7860" in snippet
    namespace: dict = {}
    exec(snippet.replace("http://127.0.0.1:7860", server.address), namespace)
    assert namespace["names"] == ALL
    assert [text["model"] for text in namespace["result"]["texts"]] == ALL


def test_writing_streams_and_ends_with_the_odds(client):
    job = client.submit("The history of", ALL, length=400, api_name="/write")
    last = job.result()
    sizes = [sum(len(text["text"]) for text in each["texts"]) for each in job.outputs()]
    assert len(sizes) > 2
    assert sizes == sorted(sizes)
    assert [text["model"] for text in last["texts"]] == ALL
    for text in last["texts"]:
        assert len(text["bytes"]) == 400
        assert bytes(each["byte"] for each in text["bytes"]).decode() == text["text"]


def test_the_page_s_own_event_gives_the_same_texts(client):
    *shown, line, result = client.predict(*controls(prompt="In 1912 , ", seed=3), api_name="/generate")
    plain = client.predict("In 1912 , ", ALL, length=40, seed=3, api_name="/write")
    assert [text["text"] for text in result["texts"]] == [text["text"] for text in plain["texts"]]
    assert "Finished: 160 bytes." in line
    assert len(shown) == 8
    json.dumps(result)


@pytest.mark.parametrize("prompt", ["", "<script>alert(1)</script>", "😀 é \x00", "a" * 100_000])
def test_any_prompt_is_welcome(client, prompt):
    result = client.predict(prompt, ["standard"], length=8, api_name="/write")
    assert len(result["texts"][0]["bytes"]) == 8


def test_a_text_is_scored(client):
    shown, result = client.predict("The tower", ALL, api_name="/score")
    assert [each["model"] for each in result["models"]] == ALL
    assert all(0 < each["bits_per_byte"] < 30 for each in result["models"])
    assert "bits/byte" in shown


@pytest.mark.parametrize(
    ("arguments", "endpoint", "message"),
    [
        (["x", ["gone"]], "/write", "There is no model 'gone' on the shelf"),
        (["x", []], "/write", "0 models are chosen: choose one to 4"),
        (["x", ALL, -1.0], "/write", "Temperature=-1.0 must be a finite number, at least 0"),
        (["", ALL], "/score", "There is no text to score"),
        (["a" * 5000, ALL], "/score", "this page scores at most 4,000"),
        (["../../etc"], "/load_model", "is neither a Hub id of the form organisation/name nor a bundled model"),
        (["<img src=x>"], "/load_model", "&lt;img src=x&gt;"),
        (["no-such/model"], "/load_model", "Cannot fetch no-such/model"),
    ],
)
def test_errors_are_words(client, arguments, endpoint, message):
    with pytest.raises(AppError) as caught:
        client.predict(*arguments, api_name=endpoint)
    assert message in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_bundled_model_loads_by_its_name(client):
    name, note = client.predict("standard", api_name="/load_model")
    assert name == "standard"
    assert "Loaded: Standard" in note


def test_every_event_has_a_name(client):
    config = client.config
    for dependency in config["dependencies"]:
        if dependency["backend_fn"]:
            assert dependency["api_name"], dependency


def test_the_demo_says_how_long_it_took(server):
    server.wait_for("first byte of 4 models after")
    assert "tipshare is at http://127.0.0.1:" in server.printed()
    assert "Traceback" not in server.printed()


def test_other_programs_are_offered_what_they_can_use_and_may_call_the_rest(client):
    offered = client.view_api(return_format="dict")["named_endpoints"]
    assert set(offered) == {"/write", "/score", "/models", "/load_model"}
    words, *_ = client.predict(None, api_name="/compare_weights")
    assert "Standard" in words
