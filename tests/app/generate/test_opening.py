"""What the page opens with: every number from records, every gate from a model."""

import dataclasses
import re

import numpy as np

from app.generate.actions import GenerateActions
from app.generate.active_runs import Runs
from app.generate.claim import plain_and_shared, show_claim
from app.generate.passage import SHOWN, STEPS, gates_of, show_passage
from tests.app.generate.test_tinted import shown_text
from training.results.formatting import count_in_words


def listings_with(shelf, losses: dict[str, float]):
    listings = []
    for name, loss in losses.items():
        listing = shelf.describe(name)
        listings.append(
            dataclasses.replace(listing, record=dataclasses.replace(listing.record, final={"valid_loss": loss}))
        )
    return listings


LOSSES = {"standard": 2.0, "neural-ode": 1.9, "time-indexed-mlp": 2.5, "time-indexed-ssm": 2.125}


def test_the_claim_is_about_the_best_smaller_model(shelf):
    listings = listings_with(shelf, LOSSES)
    plain, shared = plain_and_shared(listings)
    assert (plain.name, shared.name) == ("standard", "time-indexed-ssm")
    told = shown_text(show_claim(listings))
    assert "comes within 0.125 nats per byte of a plain transformer" in told
    assert f"a model of {count_in_words(shared.stored)} parameters" in told
    assert f"{plain.stored / shared.stored:.2g} times its size" in told
    assert "used 2 times over" in told
    better = shown_text(show_claim(listings_with(shelf, {**LOSSES, "time-indexed-mlp": 1.5})))
    assert "is 0.500 nats per byte better than a plain transformer" in better


def test_bars_are_as_long_as_the_models_are_large(shelf):
    listings = listings_with(shelf, LOSSES)
    widths = [float(each) for each in re.findall(r"width:([\d.]+)%", show_claim(listings))]
    most = max(each.stored for each in listings)
    np.testing.assert_allclose(widths, [100 * each.stored / most for each in listings], atol=0.05)
    assert "1.900" in show_claim(listings)


def test_without_a_plain_model_nothing_is_claimed(shelf):
    listings = listings_with(shelf, {"time-indexed-mlp": 2.0})
    assert plain_and_shared(listings) is None
    assert "<strong>" not in show_claim(listings)
    assert show_claim([]) == ""


def test_the_oddness_of_the_texts_is_explained(shelf):
    told = shown_text(show_claim(listings_with(shelf, LOSSES)))
    assert "<unk>" in told
    assert "@-@" in told


def test_the_drawn_gates_are_those_of_the_model(shelf):
    entry = shelf.get("time-indexed-mlp")
    drawn = gates_of(entry)
    assert drawn.values.shape == (STEPS, SHOWN)
    for step, t in ((0, 1 / STEPS), (STEPS - 1, 1.0)):
        values = np.concatenate([np.ravel(gate.array) for gate in entry.model.gates(t).values()])
        assert drawn.total == values.size
        for value in drawn.values[step]:
            assert np.abs(values - value).min() < 1e-6
    assert gates_of(shelf.get("standard")) is None
    assert gates_of(shelf.get("neural-ode")) is None


def test_the_picture_has_every_gate_at_every_depth_step_and_moves_by_them(shelf):
    drawn = gates_of(shelf.get("time-indexed-mlp"))
    picture = show_passage(drawn)
    heights = [float(each) for each in re.findall(r'class="gate" [^>]*height="([\d.]+)"/>', picture)]
    assert len(heights) == STEPS * SHOWN
    opened = np.array(heights).reshape(STEPS, SHOWN)
    assert np.corrcoef(opened.ravel(), drawn.values.ravel())[0, 1] > 0.999
    frames = re.findall(r"@keyframes tipshare-gate-(\d+)\{(.*?)\}\}", picture)
    assert [int(unit) for unit, _ in frames] == list(range(SHOWN))
    scales = [float(each) for each in re.findall(r"scaleY\(([\d.]+)\)", frames[0][1])]
    np.testing.assert_allclose(scales[::2], drawn.values[:, 0], atol=5e-4)
    assert "gate" not in show_passage(None).split("</style>")[1].split("<figcaption>")[0].replace("gates", "")


def test_the_page_draws_the_gates_of_its_best_gated_model_once(shelf):
    actions = GenerateActions(shelf, Runs())
    assert "Time-Indexed" in actions.show_passage()
    assert actions.show_passage() is actions.show_passage()
    claim, question = actions.show_opening()
    assert "<strong>" in claim
    assert re.search(r"which model is [\d.]+ times smaller\?", question)
