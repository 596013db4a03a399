"""Runs of visitors: what they see, what they keep, and that nothing is left when they go."""

import json
import time
import zipfile

import numpy as np
import pytest

import tipshare
from app.shelf import ModelShelf
from app.train import actions as kept_by
from app.train import session
from app.train.actions import TrainActions, View
from app.train.figures import draw_units
from app.train.line import LEFT
from app.train.session import Snapshot, UnitMeans
from app.train.settings import TrainingRequest
from app.train.words import compare, show_state
from training.results.records import RunRecord

# The least that the page takes: some seconds.
SMALL = {"steps": 20, "width": 32}


def last_of(actions: TrainActions, visitor: str, **changes) -> View:
    """The last view of a run that goes to its end."""
    *_, last = actions.train(visitor, TrainingRequest(**{"kind": "time-indexed-mlp", **SMALL, **changes}))
    return last


def advance(views, to: str) -> Snapshot:
    """The first snapshot of a run in some state."""
    return next(view.now for view in views if view.now and view.now.state == to)


def wait_until_idle(actions: TrainActions) -> None:
    while actions.running():
        time.sleep(0.01)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The actions of an empty page, and what Ada saw last of a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path_factory.mktemp("none")))
        shelf = ModelShelf()
        actions = TrainActions(shelf, tmp_path_factory.mktemp("archives"))
        yield shelf, actions, last_of(actions, "ada")


def test_a_run_ends_with_its_record_and_all_that_was_seen_of_it(page):
    _, _, view = page
    now, record = view.now, view.now.record
    assert now.state == "finished"
    assert [list(each) for each in now.losses] == record.train_curve
    assert [list(each) for each in now.curve] == record.curve
    assert dict(now.depths[-1][1])[2] == pytest.approx(record.final["valid_loss_at_steps_2"], abs=1e-6)
    assert now.samples[-1][0] == now.step == 20
    assert now.units.are_gates
    assert "after 20 of 20 steps, " in show_state(now, None)


def test_what_was_trained_is_on_the_shelf_of_its_visitor_alone(page):
    shelf, _, view = page
    name = view.trained.name
    assert shelf.of("ada").names() == [name]
    assert shelf.names() == shelf.of("ben").names() == []
    assert shelf.of("ada").choices() == [("Time-Indexed MLP (mine-1)", name)]
    entry = shelf.of("ada").get(name)
    assert entry.loss == view.now.record.final["valid_loss"]
    assert tipshare.generate(entry.model, "a", max_bytes=3).text
    for other in (shelf, shelf.of("ben")):
        with pytest.raises(ValueError, match="there is no model"):
            other.get(name)


def test_the_archive_is_a_checkpoint_folder_with_its_record(page, tmp_path):
    _, _, view = page
    with zipfile.ZipFile(view.trained.archive) as archive:
        archive.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.name == view.trained.archive.stem == "tipshare-time-indexed-mlp-1"
    assert tipshare.load(folder).config == view.now.request.config
    assert RunRecord.from_json((folder / "record.json").read_text()) == view.now.record
    assert not (folder / "lock").exists()
    assert str(view.trained.folder) not in json.dumps(vars(view.now.record))


def test_only_the_newest_models_are_kept(page, monkeypatch):
    shelf, actions, view = page
    monkeypatch.setattr(kept_by, "MOST_KEPT", 1)
    made = last_of(actions, "ada").trained
    assert (made.label, view.trained.label) == ("Time-Indexed MLP (mine-2)", "Time-Indexed MLP (mine-1)")
    assert shelf.of("ada").names() == [made.name]
    assert not view.trained.archive.exists()


def test_stopping_keeps_what_there_is_and_compares_it_with_the_run_before(page):
    _, actions, _ = page
    earlier = actions.newest("ada").run
    views = actions.train("ada", TrainingRequest(kind="time-indexed-mlp", choice="rate=0.01", steps=600, width=32))
    advance(views, "training")
    actions.stop("ada")
    *_, last = views
    assert last.before is earlier
    assert last.now.ended_early
    assert 0 < last.now.record.num_steps < 600
    assert "(ended early)" in show_state(last.now, last.before)
    assert "than the run before, Time-Indexed MLP with" in compare(last.now, last.before)
    assert tipshare.load(last.trained.folder).config == last.now.request.config


def test_a_run_that_is_stopped_before_its_first_step_keeps_nothing(page):
    shelf, actions, _ = page
    views = actions.train("ben", TrainingRequest(kind="time-indexed-mlp", steps=600, width=32))
    next(views)
    actions.stop("ben")
    *_, last = views
    assert last.now.state == "stopped"
    assert "stopped before the first training step" in show_state(last.now, None)
    assert last.trained is None
    assert shelf.of("ben").names() == []


def test_others_wait_see_their_place_and_may_leave_the_line(page):
    _, actions, _ = page
    first = actions.train("cy", TrainingRequest(kind="time-indexed-mlp", steps=600, width=32))
    advance(first, "training")
    request = TrainingRequest(kind="time-indexed-mlp", **SMALL)
    second, third = actions.train("dan", request), actions.train("eve", request)
    assert (next(second).ahead, next(third).ahead) == (1, 2)
    with pytest.raises(ValueError, match="a run of yours is under way"):
        next(actions.train("cy", request))
    actions.stop("dan")
    *_, last = second
    assert last == View(LEFT)
    assert next(third).ahead == 1
    actions.stop("cy")
    for _ in first:
        pass
    assert next(view for view in third if view.now).now.state == "compiling"  # her turn
    third.close()
    wait_until_idle(actions)


def test_nothing_is_left_of_a_visitor_who_goes_in_the_middle_of_a_run(page):
    shelf, actions, _ = page
    views = actions.train("fay", TrainingRequest(kind="time-indexed-mlp", steps=600, width=32))
    advance(views, "training")
    views.close()  # as the server does when the connection ends
    actions.leave("fay")
    wait_until_idle(actions)
    assert len(actions.line) == 0
    assert actions.newest("fay") is None
    assert shelf.of("fay").names() == []


def test_a_visitor_who_goes_takes_their_models_along(page, tmp_path):
    shelf, actions, _ = page
    made = last_of(actions, "gus").trained
    assert shelf.of("gus").get(made.name).name == made.name
    actions.leave("gus")
    assert not made.folder.exists()
    assert not made.archive.exists()
    with pytest.raises(ValueError, match="there is no model"):
        shelf.of("gus").get(made.name)


def test_a_run_that_takes_too_long_ends_and_is_kept(page, monkeypatch):
    _, actions, _ = page
    monkeypatch.setattr(session, "MOST_SECONDS", 0.0)
    view = last_of(actions, "joe", steps=600)
    assert view.now.ended_early
    assert view.now.record.num_steps < 600


def test_a_loss_that_explodes_is_told_in_words(page, monkeypatch):
    _, actions, _ = page
    monkeypatch.setattr("training.engine.history.History.note_loss", _explode)
    view = last_of(actions, "kim")
    assert view.now.state == "failed"
    assert "A smaller learning rate may help." in show_state(view.now, None)
    assert view.trained is None


def _explode(*_: object) -> None:
    from training.engine.history import DivergedError

    raise DivergedError("the loss became infinite")


def test_places_have_the_names_that_gates_show():
    units = UnitMeans(
        t=np.array([0.5, 1.0]), means={"attention_in": np.ones(2), "up": np.ones(2)}, are_gates=True, unchanged=0.9
    )
    figure = draw_units(Snapshot(TrainingRequest(kind="time-indexed-mlp"), units=units))
    assert [each.name for each in figure.data] == ["attention input", "MLP up"]


def test_the_oldest_archives_of_all_go_when_they_take_too_much_room(page, monkeypatch):
    shelf, actions, _ = page
    before = last_of(actions, "cleo").trained
    monkeypatch.setattr(kept_by, "MOST_ARCHIVED", before.size)
    made = last_of(actions, "dora").trained
    assert shelf.of("cleo").names() == []
    assert not before.archive.exists()
    assert shelf.of("dora").names() == [made.name]
    assert made.size == made.archive.stat().st_size
