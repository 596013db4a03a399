"""The page for other programs: `gradio_client` against a running demo."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from gradio.utils import get_function_description
from gradio_client import Client
from gradio_client.exceptions import AppError

from app.generate.settings import PARAMETERS, WritingRequest
from app.page import build_demo

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
    settings = controls(prompt="In 1912 , ", seed=3, steps=2)
    _, _, number = client.predict(*settings, api_name="/prepare_generate")
    shown = client.predict(number, *settings, api_name="/generate")
    plain = client.predict("In 1912 , ", ALL, length=40, seed=3, api_name="/write")
    assert [text["text"] for text in shown["result"]["texts"]] == [text["text"] for text in plain["texts"]]
    assert [text["name"] for text in shown["texts"]] == ALL
    assert shown["line"] == "Finished: 160 bytes."
    assert shown["run"] == int(number)
    json.dumps(shown)


def test_settings_that_no_control_has_are_taken_or_told_in_our_words(client):
    assert client.predict(*controls(temperature=3.0, steps=1), api_name="/prepare_generate")
    with pytest.raises(AppError, match=r"Depth steps=25 must be a whole number, at least 0 and at most 24"):
        client.predict(*controls()[:-1], 25, api_name="/prepare_generate")


def test_a_model_that_is_gone_is_chosen_no_more(client):
    models, _ = client.predict(["neural-ode", "gone", "standard"], api_name="/list_models")
    assert models["value"] == ["neural-ode", "standard"]
    models, _ = client.predict(["neural-ode", "standard"], api_name="/list_models")
    assert "value" not in models


def test_a_pair_is_closed_while_the_next_one_is_written(client):
    client.predict(api_name="/new_pair")
    client.predict(api_name="/close_pair")
    with pytest.raises(AppError, match="There is no pair to answer"):
        client.predict(api_name="/answer_a")


@pytest.mark.parametrize("prompt", ["", "<script>alert(1)</script>", "😀 é \x00", "a" * 100_000])
def test_any_prompt_is_welcome(client, prompt):
    result = client.predict(prompt, ["standard"], length=8, api_name="/write")
    assert len(result["texts"][0]["bytes"]) == 8


def test_a_text_is_scored(client):
    result = client.predict("The tower", ALL, api_name="/score")
    assert [each["model"] for each in result["models"]] == ALL
    assert all(0 < each["bits_per_byte"] < 30 for each in result["models"])
    assert all(len(each["log_probs"]) == len("The tower") for each in result["models"])
    shown, same = client.predict("The tower", ALL, api_name="/score_text")  # the page's own event
    assert same == result
    assert "bits/byte" in shown


def test_gates_are_data(client):
    found = client.predict("time-indexed-ssm", api_name="/gates")
    assert found["depths"] == [0.5, 1.0]
    assert found["are_gates"]
    assert list(found["places"]) == ["attention_in", "attention_out", "A", "B", "C", "D", "delta"]
    rows = np.array(found["places"]["A"]["values"])
    assert rows.shape[0] == 2
    between = client.predict("time-indexed-ssm", [0.25, 1.0], api_name="/gates")
    assert between["depths"] == [0.25, 1.0]
    np.testing.assert_allclose(between["places"]["A"]["values"][1], rows[1], atol=1e-4)
    assert not client.predict("standard", api_name="/gates")["are_gates"]


def test_results_are_data(client):
    found = client.predict(api_name="/results")
    assert found["recipe"] == "published-1000"
    assert [row["model"] for row in found["rows"]] == ALL
    assert len(found["tests"]) == 6
    assert found["recipe"] in found["recipes"]
    bits = client.predict("published-1000", ["standard"], "both", "bits", api_name="/results")
    assert [(row["model"], row["source"]) for row in bits["rows"]] == [(ALL[0], "measured"), (ALL[0], "published")]
    assert bits["rows"][0]["loss"] * np.log(2) == pytest.approx(found["rows"][0]["loss"])


@pytest.mark.parametrize(
    ("arguments", "endpoint", "message"),
    [
        (["x", ["gone"]], "/write", "There is no model 'gone' on the shelf"),
        (["x", []], "/write", "0 models are chosen: choose one to 4"),
        (["x", ALL, -1.0], "/write", "Temperature=-1.0 must be a finite number, at least 0"),
        (["", ALL], "/score", "There is no text to score"),
        (["a" * 5000, ALL], "/score", "this page scores at most 4,000"),
        (["gone"], "/gates", "There is no model 'gone' on the shelf"),
        (["standard", [0.5, 2.0]], "/gates", "T=2.0 is not a depth"),
        (["standard", [0.5] * 25], "/gates", "25 depths are asked for: give at most 24 at once"),
        (["gone"], "/results", "No runs are called 'gone'; there are published-1000"),
        (["../../etc"], "/load_model", "is neither a Hub id of the form organisation/name nor a bundled model"),
        (["<img src=x>"], "/load_model", "&lt;img src=x&gt;"),
        (["no-such/model"], "/load_model", "Cannot fetch no-such/model"),
        (["published-1000", 5], "/results", "Models=5 must be a list of texts"),
        ([None], "/load_from_hub", "'' is neither a Hub id"),
    ],
)
def test_errors_are_words(client, arguments, endpoint, message):
    with pytest.raises(AppError) as caught:
        client.predict(*arguments, api_name=endpoint)
    assert message in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_bundled_model_loads_by_its_name(client):
    loaded = client.predict("standard", api_name="/load_model")
    assert loaded == client.predict(api_name="/models")[0]


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
    assert set(offered) == {"/write", "/score", "/models", "/load_model", "/gates", "/dynamics", "/results"}
    words, *_ = client.predict(None, api_name="/compare_weights")
    assert "Standard" in words


def test_every_endpoint_and_its_arguments_are_described_for_people_and_language_models(shelf):
    demo = build_demo(shelf)
    info = demo.get_api_info()["named_endpoints"]
    by_name = {f"/{each.api_name}": each.fn for each in demo.fns.values()}
    for name, endpoint in info.items():
        # A tool is called as its function, and its description is that of the function.
        assert by_name[name].__name__ == name[1:]
        description, arguments, _ = get_function_description(by_name[name])
        assert len(description) > 30, name
        for argument in endpoint["parameters"]:
            assert arguments.get(argument["parameter_name"]), (name, argument["parameter_name"])
            assert argument["python_type"]["type"] != "Any", (name, argument["parameter_name"])
