"""Every view of the Gates tab, for every kind, from what is on the shelf."""

import shutil

import numpy as np
import pytest

import tipshare
from app.gates.actions import LONGEST_PROMPT, NO_MODEL, GateActions
from app.gates.arrays import DepthViews, trained_depths, untrained_stretches
from app.gates.depth_figures import _short
from app.gates.figures import COLOURS, ORDERS, order_units
from app.gates.words import byte_label, scales_in_words
from app.places import MEANINGS, NAMES
from app.plot_style import NEUTRAL
from app.shelf import Listing, ModelShelf, ViewCache
from tests.app.models import build_tiny_model
from tests.training.results.factory import make_record
from tipshare.analysis.units import units_at
from tipshare.model.depth import turns_of_time

MLP_PLACES = ("attention_in", "attention_out", "up", "down")
SSM_PLACES = ("attention_in", "attention_out", "A", "B", "C", "D", "delta")


@pytest.fixture
def actions(shelf) -> GateActions:
    return GateActions(shelf)


def heat(figure) -> np.ndarray:
    """The numbers of a figure's first heat map."""
    return np.asarray(figure.data[0].z)


@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_every_place_of_every_kind_has_every_view(actions, shelf, kind):
    model = shelf.get(kind).model
    places = SSM_PLACES if kind == "time-indexed-ssm" else MLP_PLACES
    for place in places:
        views = actions.views(kind, None, place, "stored", "value")
        assert (views.names, views.name) == (places, place)
        assert heat(views.heat_map).shape[0] == model.steps
        # Band, mean and dots; and what a shade means, where there is any.
        assert len(views.curves.data) == (3 if kind == "standard" else 4)
        assert len(views.distributions.data) == 1
        assert f"<em>{NAMES[place]}</em>" in views.words
    if kind.startswith("time-indexed"):
        gates = [np.asarray(model.gates(t)[place].array) for t in (0.5, 1.0)]
        np.testing.assert_allclose(heat(views.heat_map), gates, rtol=1e-5)
        assert "has no gates" not in views.words
    else:
        assert "has no gates" in views.words
        np.testing.assert_allclose(heat(views.heat_map).mean(axis=0), 1.0, rtol=1e-4)
    assert len(actions.at_depth(kind, None, 0.37).data) == len(places)


def test_orders_sort_units_and_keep_their_numbers(actions):
    values = np.array([[0.1, 0.9, 0.5], [0.2, 0.9, 0.9]])
    assert list(order_units(values, "value")) == [0, 2, 1]
    assert list(order_units(values, "change")) == [1, 0, 2]
    drawn = actions.views("time-indexed-mlp", None, "up", "value", "value").heat_map
    stored = actions.views("time-indexed-mlp", None, "up", "stored", "value").heat_map
    assert np.all(np.diff(heat(drawn).mean(axis=0)) >= 0)
    places = np.asarray(drawn.data[0].customdata)[0]
    np.testing.assert_allclose(heat(drawn), heat(stored)[:, places])


def test_the_difference_is_from_each_unit_s_own_mean(actions):
    drawn = actions.views("time-indexed-ssm", None, "A", "change", "difference").heat_map
    np.testing.assert_allclose(heat(drawn).mean(axis=0), 0.0, atol=1e-6)
    scale = drawn.layout.coloraxis
    assert scale.cmin == -scale.cmax


def test_colours_end_at_what_a_gate_can_be_and_are_neutral_where_gates_start(actions):
    scale = actions.views("time-indexed-mlp", None, "up", "stored", "value").heat_map.layout.coloraxis
    assert (scale.cmin, scale.cmax) == (0.0, 1.0)
    ((neutral, _),) = [each for each in scale.colorscale if each[1] == NEUTRAL]
    assert neutral == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)


def test_gates_and_norms_side_by_side_have_a_scale_each(actions):
    views = actions.views("time-indexed-mlp", "neural-ode", "up", "value", "value")
    gates, norms = views.heat_map.data
    assert (gates.coloraxis, norms.coloraxis) == ("coloraxis", "coloraxis2")
    of_norms = views.heat_map.layout.coloraxis2
    assert (of_norms.cmin + of_norms.cmax) / 2 == pytest.approx(1.0)
    assert "A gate of 1 lets its unit pass, 0 mutes it. Grey is 0.88, where gates start before training" in views.words
    assert "; or 1, the mean along depth, where there are no gates. Blue lies above it, orange below." in views.words
    assert views.words.count("Grey is") == 1


def test_gates_that_start_at_different_values_have_a_grey_each():
    early, late = (units_at(build_tiny_model("time-indexed-mlp", gate_start=start), 0.5) for start in (0.0, 2.0))
    (_, words) = scales_in_words([early, late, late], "value")
    assert words.startswith("Grey is 0.50, where gates start before training; or 0.88, where gates start")


def test_norms_are_not_sorted_by_a_mean_that_is_1_for_all(actions):
    views = actions.views("standard", None, "up", "value", "value")
    assert "value" not in views.orders.values()
    assert views.order == "change"
    assert actions.views("standard", "time-indexed-mlp", "up", "value", "value").order == "value"


def record_of(kind: str, **settings):
    return make_record(kind, config={"num_layers": 6}, settings={"corpus": "x", **settings})


def entry_of(kind: str, record, **changes) -> Listing:
    return Listing(kind, kind, tipshare.KINDS[kind](num_layers=6, **changes), record)


def test_what_training_did_not_cover_is_known_from_the_record():
    # Published features turn too fast for six depths; smooth ones do not, and only the way to the first is left.
    published = entry_of("time-indexed-mlp", record_of("time-indexed-mlp"), time_features="published")
    assert untrained_stretches(published) == [(0.0, 0.166667)] + [
        (pytest.approx(k / 6, abs=1e-5), pytest.approx((k + 1) / 6, abs=1e-5)) for k in range(1, 6)
    ]
    smooth = entry_of("time-indexed-mlp", record_of("time-indexed-mlp"))
    assert untrained_stretches(smooth) == [(0.0, 0.166667)]
    drawn = record_of("time-indexed-mlp", depth_steps=[2, 3, 12])
    assert untrained_stretches(entry_of("time-indexed-mlp", drawn)) == [(0.0, 0.083333)]
    few = record_of("time-indexed-mlp", depth_steps=[1, 3])
    assert trained_depths(entry_of("time-indexed-mlp", few)).tolist() == [0.333333, 0.666667, 1.0]
    assert len(untrained_stretches(entry_of("time-indexed-mlp", few))) == 3
    assert untrained_stretches(entry_of("standard", None)) == []


def test_stretches_that_were_not_trained_are_shaded_and_the_curve_shows_every_turn(actions, shelf):
    curves = actions.views("time-indexed-mlp", None, "up", "value", "value").curves
    assert len(curves.layout.shapes) == 1 + shelf.get("time-indexed-mlp").model.steps
    assert curves.data[-1].name == "not covered by training"
    turns = turns_of_time(shelf.get("time-indexed-mlp").config)
    assert turns == pytest.approx(2.0)
    assert np.diff(curves.data[1].x).max() * turns < 1 / 4
    assert len(actions.views("standard", None, "up", "change", "value").curves.layout.shapes) == 1


def test_two_models_share_a_scale_and_say_what_one_of_them_lacks(actions):
    views = actions.views("time-indexed-mlp", "time-indexed-ssm", "up", "value", "value")
    assert len(views.heat_map.data) == 1
    assert "Time-Indexed SSM has no <em>MLP up</em>; it has attention input" in views.words
    assert set(views.names) == {*MLP_PLACES, *SSM_PLACES}
    both = actions.views("time-indexed-mlp", "time-indexed-ssm", "attention_in", "value", "value")
    assert len(both.heat_map.data) == 2
    assert {trace.coloraxis for trace in both.heat_map.data} == {"coloraxis"}


def test_a_model_without_the_place_says_nothing_about_its_axis(actions):
    views = actions.views("standard", "time-indexed-ssm", "A", "change", "value")
    for figure in (views.curves, views.distributions):
        assert figure.layout.yaxis.title.text == "gate"
    assert views.curves.layout.annotations[0].text.startswith("before training: 0.88")
    assert views.curves.data[1].line.dash == "solid"


def test_a_place_that_a_model_lacks_falls_back_to_its_first(actions):
    assert actions.views("time-indexed-ssm", None, "up", "value", "value").name == "attention_in"


def test_similarity_and_norms_show_all_models(actions):
    words, similarity, norms = actions.weights(None)
    assert [len(similarity.data), len(norms.data)] == [4, 4]
    for matrix in similarity.data:
        np.testing.assert_allclose(np.diag(matrix.customdata), 0.0, atol=1e-6)
        assert np.min(matrix.z) >= -4
    assert words.count("largest") == 4
    words, similarity, norms = actions.weights("A")
    assert [len(similarity.data), len(norms.data)] == [1, 1]
    with pytest.raises(ValueError, match="no weight is called 'Z'; the names are attention_in"):
        actions.weights("Z")


@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_a_prompt_is_followed_through_every_kind(actions, shelf, kind):
    words, predictions, path = actions.follow(kind, None, "<b>& é")
    model = shelf.get(kind).model
    assert heat(predictions).shape == (model.steps + 1, 5)
    assert len(path.data) == 2
    assert "predicts" in words


def test_what_a_model_would_say_is_escaped_and_named(actions):
    assert [byte_label(byte) for byte in (0x20, 0x0A, 0x3C, 0x00, 0xE9)] == ["space", "newline", "<", "0x00", "0xE9"]
    for prompt in ("", "a", "<", "xyz"):
        _, predictions, _ = actions.follow("standard", None, prompt)
        assert not any("<" in text for row in predictions.data[0].text for text in row)


def test_similar_weights_are_not_said_to_be_the_same():
    shown = {0.0: "0", 0.0002: "&lt;.001", 0.0049: ".005", 0.0098: ".010", 0.05: ".050", 0.62: ".62", 1.2: "1.2"}
    assert [_short(each) for each in shown] == [*shown.values()]
    assert set(MEANINGS) == set(NAMES)


def test_a_long_prompt_is_refused_or_told_to_be_cut(actions):
    words, _, _ = actions.follow("standard", None, "x" * 1000)
    assert "The first 936 bytes did not fit into its context" in words
    with pytest.raises(ValueError, match="the prompt has 10,001 characters; give at most 10,000"):
        actions.follow("standard", None, "x" * (LONGEST_PROMPT + 1))


def test_bad_choices_are_answered_in_words(actions):
    with pytest.raises(ValueError, match="there is no model 'nobody' on the shelf"):
        actions.views("nobody", None, "up", "value", "value")
    with pytest.raises(ValueError, match="order='sideways' is not one of stored, value, change"):
        actions.views("standard", None, "up", "sideways", "value")
    with pytest.raises(ValueError, match="colour='pink' is not one of value, difference"):
        actions.views("standard", None, "up", "value", "pink")
    with pytest.raises(ValueError, match="prompt=5 must be a text"):
        actions.follow("standard", None, 5)
    assert "predicts" in actions.follow("standard", None, None)[0]
    assert set(ORDERS.values()) == {"stored", "value", "change"}
    assert set(COLOURS.values()) == {"value", "difference"}


def test_the_first_model_with_gates_is_the_default(actions):
    assert actions.default() == "time-indexed-mlp"


def test_an_empty_shelf_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    actions = GateActions(ModelShelf())
    assert actions.default() is None
    views = actions.views(None, None, None, "value", "value")
    assert NO_MODEL in views.words
    assert not views.heat_map.data
    assert views.heat_map.layout.annotations
    assert NO_MODEL in actions.weights(None)[0]
    assert NO_MODEL in actions.follow(None, None, "x")[0]


def test_a_damaged_model_does_not_hide_the_others(actions, checkpoints, tmp_path, monkeypatch):
    folder = tmp_path / "damaged"
    shutil.copytree(checkpoints, folder)
    (folder / "standard" / "model.safetensors").write_bytes(b"nothing")
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(folder))
    words, similarity, _ = GateActions(ModelShelf()).weights(None)
    assert "standard cannot be read." in words
    assert len(similarity.data) == 3


def test_views_are_kept_until_the_model_changes(shelf):
    cache = ViewCache(DepthViews)
    entry = shelf.get("standard")
    assert cache.of(entry) is cache.of(entry)
    assert cache.of(entry).units is cache.of(entry).units
    other = ModelShelf().get("standard")
    assert cache.of(other).model is other.model
