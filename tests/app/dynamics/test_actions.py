"""Every view of the Dynamics tab, for every kind, from what is on the shelf."""

import json
import re
import shutil

import numpy as np
import pytest
from gradio_client import Client

import tipshare
from app.dynamics import arrays
from app.dynamics.actions import NO_MODEL, DynamicsActions
from app.dynamics.api import describe_dynamics
from app.dynamics.settings import LONGEST_TEXT, Choice
from app.links import Link
from app.shelf import ModelShelf
from tipshare import analysis
from tipshare.kinds import LOOKS

TEXT = "The tow\u00e9r"


@pytest.fixture
def actions(shelf) -> DynamicsActions:
    return DynamicsActions(shelf)


def test_the_spectra_of_all_kinds_stand_side_by_side(actions, shelf):
    views = actions.spectra("up-down", 0.5)
    titles = [each.text for each in views.eigenvalues.layout.annotations]
    assert [title.split("<br>")[0] for title in titles] == ["Standard", "Neural ODE", "Time-Indexed MLP"]
    assert "<em>Time-Indexed SSM</em>: has no up-down" in views.words
    dots = [each for each in views.eigenvalues.data if each.mode == "markers"]
    # Every plane is square, and holds the unit circle and all eigenvalues.
    axes = views.eigenvalues.layout
    assert [axes[name].scaleanchor for name in ("yaxis", "yaxis2", "yaxis3")] == ["x", "x2", "x3"]
    for name, seen in zip(("xaxis", "xaxis2", "xaxis3"), dots, strict=True):
        assert axes[name].range[1] == -axes[name].range[0] > max(1.0, *np.hypot(seen.x, seen.y))
    for trace, kind in zip(dots, ("standard", "neural-ode", "time-indexed-mlp"), strict=True):
        found = analysis.spectrum(shelf.get(kind).model, "up-down", [0.5]).eigenvalues.ravel()
        np.testing.assert_allclose(np.array(trace.x) + 1j * np.array(trace.y), found, atol=1e-5)
    assert len(views.magnitudes.data) == 6  # mean and largest
    # Between depth steps: the nearest layer, or the weights at this very t.
    between = actions.spectra("query-key", 0.37)
    titles = [each.text for each in between.eigenvalues.layout.annotations]
    assert titles[0] == "Standard<br>t = 0.50"
    assert titles[2] == "Time-Indexed MLP<br>t = 0.37"


@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_every_kind_has_every_view_of_a_text(actions, shelf, kind):
    model = shelf.get(kind).model
    seen = actions.sensed(kind, TEXT, None)
    count = len(TEXT.encode()) + 1
    assert seen.place == count - 1
    assert seen.text.count("<button") == count
    assert seen.text.count("chosen") == 1
    assert f"<em>{LOOKS[kind].title}</em>: The prediction of" in seen.words
    shares = [float(each) for each in re.findall(r"--share:([\d.]+)", seen.text)]
    np.testing.assert_allclose(shares, (found := analysis.sensitivity(model, TEXT).shares) / found.max(), atol=1e-3)
    early = actions.sensed(kind, TEXT, 2)
    assert (early.place, early.text.count("later")) == (2, count - 3)
    figures = actions.figures(kind, TEXT, "divergence")
    heat = figures.lens.data[0]
    lens = analysis.lens(model, TEXT)
    np.testing.assert_allclose(np.array(heat.z, float), lens.divergences, atol=1e-4)
    assert heat.customdata[0][0].count("<br>") == 4
    assert "Read through the logit lens" in figures.lens_words
    assert "changes the residual stream most" in figures.stream_words
    assert ("states forget" in figures.stream_words) == (kind == "time-indexed-ssm")
    np.testing.assert_allclose(np.array(figures.alignment.data[0].z), analysis.stream_change(model, TEXT).alignment)
    assert len(figures.updates.data) == 2 - (model.steps < 2)


def test_a_long_text_takes_few_directions_and_has_the_same_tint(actions, shelf, monkeypatch):
    exact = analysis.sensitivity(shelf.get("standard").model, TEXT)
    monkeypatch.setattr(arrays, "MOST_EXACT", 0)
    seen = actions.sensed("standard", TEXT, None)
    assert re.search(r"A disturbance of one byte can grow [\d.]+-fold or more \(exponent", seen.words)
    shares = [float(each) for each in re.findall(r"--share:([\d.]+)", seen.text)]
    np.testing.assert_allclose(shares, exact.shares / exact.shares.max(), atol=1e-3)


def test_what_the_lens_shows_can_be_chosen(actions, shelf):
    lens = analysis.lens(shelf.get("standard").model, TEXT)
    entropy = actions.figures("standard", TEXT, "entropy").lens.data[0].z
    np.testing.assert_allclose(np.array(entropy, float), lens.entropies, atol=1e-4)
    loss = np.array(actions.figures("standard", TEXT, "loss").lens.data[0].z)
    assert all(each is None for each in loss[:, -1])


def test_nothing_of_a_text_is_taken_for_html(actions):
    seen = actions.sensed("standard", "<b>&", None)
    assert ">&lt;</button>" in seen.text
    assert ">&amp;</button>" in seen.text
    assert "<b>" not in seen.text + seen.words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("standard", "", None), "there is no text: give at least one character"),
        (("standard", "a" * (LONGEST_TEXT + 1), None), "the text has 257 bytes: give at most 256"),
        (("standard", "abc", 4), "place=4 is not a byte of this text: give 0 to 3"),
        (("standard", "abc", 1.5), "place=1.5 must be a whole number"),
        ((None, "abc", None), "No model is here yet"),
        (("nobody", "abc", None), "nobody"),
    ],
)
def test_errors_are_in_words(actions, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        actions.sensed(*arguments)


def test_a_damaged_model_does_not_hide_the_others(checkpoints, tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    for kind in ("standard", "time-indexed-mlp"):
        shutil.copytree(checkpoints / kind, folder / kind)
    weights = folder / "standard" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(folder))
    views = DynamicsActions(ModelShelf()).spectra("query-key", 1.0)
    assert "standard cannot be shown: Model.safetensors is truncated" in views.words
    assert "<em>Time-Indexed MLP</em>: The mean magnitude" in views.words


def test_an_empty_shelf_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    assert NO_MODEL in DynamicsActions(ModelShelf()).spectra("query-key", 1.0).words


def test_a_link_holds_what_was_chosen():
    query = {"tab": "dynamics", "model": "neural-ode", "text": "a & b", "place": "3", "product": "query-key"}
    query |= {"t": "0.25", "shown": "loss"}
    choice = Choice("neural-ode", "a & b", 3, "query-key", 0.25, "loss")
    assert Choice.of_link(Link(query, "dynamics"), ["neural-ode"]) == choice
    assert Choice.of_link(Link({"tab": "gates", "t": "7"}, "dynamics"), []) == Choice()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"model": "nobody"}, "the link says model='nobody', which is not here; there is standard"),
        ({"t": "x"}, "the link says t='x': give a number from 0.02 to 1"),
        ({"t": "2"}, "the link says t='2'"),
        ({"t": "nan"}, "the link says t='nan'"),
        ({"place": "1.5", "text": "ab"}, "the link says place='1.5': give a number from 0 to 2"),
        ({"place": "3", "text": "ab"}, "the link says place='3': give a number from 0 to 2"),
        ({"text": "a" * 257}, "the link's text has 257 characters: give at most 256"),
        ({"product": "A"}, "the link says product='A', which is not here; there is query-key, value-output, up-down"),
        ({"shown": "A"}, "the link says shown='A', which is not here; there is divergence, entropy, loss"),
    ],
)
def test_a_wrong_link_is_answered_in_words(query, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Choice.of_link(Link({"tab": "dynamics", **query}, "dynamics"), ["standard"])


@pytest.mark.parametrize("kind", LOOKS)
def test_other_programs_get_the_numbers_of_every_kind(actions, shelf, kind):
    told = describe_dynamics(actions, kind, TEXT, 2)
    model = shelf.get(kind).model
    json.dumps(told, allow_nan=False)
    assert told["bytes"][1:] == list(TEXT.encode())
    assert set(told["weights"]) == set(analysis.spectra(model))
    radius = analysis.spectra(model)["value-output"].radius
    np.testing.assert_allclose(told["weights"]["value-output"]["spectral_radius"], radius, atol=1e-5)
    assert told["lens"]["loss_nats"][0][-1] is None  # nothing follows the last byte
    assert told["sensitivity"]["place"] == 2
    assert sum(told["sensitivity"]["shares"]) == pytest.approx(1, abs=1e-4)
    assert (told["time_constants_bytes"] is None) == (kind != "time-indexed-ssm")
    with pytest.raises(ValueError, match="place=99 is not a byte of this text: give 0 to 10"):
        describe_dynamics(actions, kind, TEXT, 99)


def test_a_page_whose_controls_are_still_empty_draws_nothing(server):
    """The server has set the controls, but the browser has not received them yet and sends what it has."""
    client = Client(server.address, verbose=False, analytics_enabled=False)
    client.predict(api_name="/open_dynamics")
    drawn = client.predict(False, None, "", None, "divergence", api_name="/draw_dynamics_text")
    assert not any("finding" in str(each) for each in drawn)


def test_a_place_is_not_told_to_the_page_that_sent_it(server):
    client = Client(server.address, verbose=False, analytics_enabled=False)
    client.predict(api_name="/open_dynamics")  # which lists the models
    _, place, _ = client.predict("standard", "abc", 1, api_name="/draw_sensitivity")
    assert "value" not in place
    _, place, _ = client.predict("standard", "abc", None, api_name="/draw_sensitivity")
    assert place["value"] == 3
