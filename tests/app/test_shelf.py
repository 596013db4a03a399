"""The shelf: what is on it, what may be added, and what is refused in words."""

import dataclasses
import gc
import json
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

import tipshare
from app.generate.cards import show_dots
from app.shelf import ModelShelf, ViewsOfModel, compiled
from app.shelf.compiled import CompiledCode, count_programs
from tests.app.models import build_tiny_model, save_tiny_model
from tests.checkpoint.configs import reseal
from tests.hub.conftest import hub  # noqa: F401
from tipshare.kinds import LOOKS, colour_of

# The Hub client's own way of sending large files.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def own_folder(checkpoints, tmp_path, monkeypatch):
    """A copy of the checkpoints that a test may change."""
    folder = tmp_path / "checkpoints"
    shutil.copytree(checkpoints, folder)
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(folder))
    return folder


def test_bundled_models_come_in_the_order_of_the_palette(shelf):
    assert shelf.names() == list(LOOKS)
    assert [label for label, _ in shelf.choices()] == [
        "Standard",
        "Neural ODE",
        "Time-Indexed MLP",
        "Time-Indexed SSM",
    ]


def test_an_entry_knows_its_model(shelf):
    for name in shelf.names():
        entry = shelf.get(name)
        assert (entry.kind, entry.colour) == (name, colour_of(name))
        assert entry.stored == tipshare.count_parameters(entry.model).total
        assert entry.effective == tipshare.count_parameters(entry.model, frozen=True).total
        assert entry.loss == 2.0
        assert entry.record.kind == name
    neural_ode = shelf.describe("neural-ode")
    assert neural_ode.stored > neural_ode.effective


def test_weights_stored_as_bfloat16_are_computed_with_in_float32(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    tipshare.save(build_tiny_model("neural-ode"), tmp_path / "neural-ode", dtype="bfloat16")
    shelf = ModelShelf()
    assert shelf.get("neural-ode").model.embedding.dtype == "float32"


def test_visitors_who_come_at_once_share_one_model(shelf):
    with ThreadPoolExecutor(8) as pool:
        models = [entry.model for entry in pool.map(lambda _: shelf.get("standard"), range(8))]
    assert all(model is models[0] for model in models)


def test_an_empty_shelf_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path / "nothing"))
    assert ModelShelf().names() == []
    with pytest.raises(ValueError, match="there are none"):
        ModelShelf().get("standard")


@pytest.mark.parametrize(
    "source", ["", "/etc", "../checkpoints", "a/b/c", "a b/c", "org/<script>", "org/", "./standard"]
)
def test_what_is_no_name_is_refused_in_words(shelf, source):
    with pytest.raises(ValueError, match="neither a Hub id of the form organisation/name nor a bundled model"):
        shelf.add(source)
    assert len(shelf.names()) == 4


def test_a_hub_id_is_never_a_folder_of_the_server(shelf, tmp_path, monkeypatch, hub):  # noqa: F811
    save_tiny_model("standard", tmp_path / "private" / "model")
    monkeypatch.chdir(tmp_path)
    assert tipshare.load("private/model").config.kind == "standard"  # the library itself would take it
    with pytest.raises(ValueError, match="cannot fetch private/model"):
        shelf.add("private/model")


def test_a_model_from_the_hub_joins_the_bundled_ones(shelf, checkpoints, hub):  # noqa: F811
    tipshare.push(checkpoints / "standard", "org/another", private=False)
    assert shelf.add(" org/another ") == "org/another"
    assert shelf.names()[-1] == "org/another"
    # Two models of one kind are told apart by their names.
    assert shelf.get("org/another").label == "Standard (org/another)"
    assert shelf.get("standard").label == "Standard (standard)"
    assert shelf.get("org/another").model.score("abc").loss == shelf.get("standard").model.score("abc").loss


def test_the_login_of_the_machine_is_not_lent_to_visitors(shelf, checkpoints, hub):  # noqa: F811
    tipshare.push(checkpoints / "standard", "org/secret", private=True)
    with pytest.raises(ValueError, match="cannot fetch org/secret"):
        shelf.add("org/secret")
    assert ModelShelf(use_login=True).add("org/secret") == "org/secret"


def test_fetched_models_do_not_pile_up(shelf, checkpoints, hub, monkeypatch):  # noqa: F811
    monkeypatch.setattr("app.shelf.shelf.MOST_ADDED", 1)
    for name in ("org/first", "org/second"):
        tipshare.push(checkpoints / "time-indexed-mlp", name)
        shelf.add(name)
    assert shelf.names()[4:] == ["org/second"]


def test_a_damaged_checkpoint_is_named_and_the_others_work(own_folder):
    weights = own_folder / "standard" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    shelf = ModelShelf()
    assert "standard" in shelf.names()
    with pytest.raises(tipshare.CheckpointError):
        shelf.get("standard")
    assert shelf.get("neural-ode").kind == "neural-ode"


@pytest.mark.parametrize("changes", [{"final": []}, {"model": "\ud800"}, {"model": "x" * 10**6}, {"speed": 3}])
def test_a_record_that_is_not_valid_is_no_record(own_folder, changes):
    path = own_folder / "standard" / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    reseal(path.parent)
    shelf = ModelShelf()
    entry = shelf.get("standard")
    assert entry.record is None
    assert entry.loss is None
    assert ("Standard", "standard") in shelf.choices()


def test_records_survive_the_way_through_the_checkpoint(own_folder):
    fields = json.loads((own_folder / "standard" / "record.json").read_text())
    assert dataclasses.asdict(ModelShelf().get("standard").record) == fields


def test_who_leaves_is_forgotten(shelf, checkpoints, hub):  # noqa: F811
    tipshare.push(checkpoints / "standard", "org/another")
    mine, theirs = shelf.of("me"), shelf.of("another visitor")
    for each in (mine, theirs):
        each.add("org/another")
    mine.forget()
    assert "org/another" not in mine.names()
    assert "org/another" in theirs.names()
    with pytest.raises(ValueError, match="Models from the Hub are loaded at the top of the page, by each visitor"):
        mine.get("org/another")


def test_a_model_that_was_dropped_leaves_the_memory(shelf, checkpoints, hub, monkeypatch):  # noqa: F811
    """Also if a tab has kept what it worked out of it."""
    for name in ("org/first", "org/second"):
        tipshare.push(checkpoints / "time-indexed-mlp", name)
    shelf.add("org/first")
    model = weakref.ref(shelf.get("org/first").model)
    views = ViewsOfModel(shelf.get("org/first").model)
    assert views.is_of(shelf.get("org/first").model)
    monkeypatch.setattr("app.shelf.store.MOST_KEPT_BYTES", 1)
    shelf.add("org/second")
    gc.collect()
    assert model() is None
    with pytest.raises(ValueError, match="this model was dropped to make room for others"):
        print(views.model)
    with pytest.raises(ValueError, match="no model 'org/first' on the shelf"):
        shelf.get("org/first")


def test_compiled_code_is_dropped_before_it_fills_the_memory(monkeypatch):
    functions = [jax.jit(lambda x, number=number: x * number) for number in range(4)]
    code = CompiledCode()
    monkeypatch.setattr(compiled, "MOST_PROGRAMS", count_programs() + 2)
    assert not code.make_room()
    for function in functions:
        function(np.ones(3))
    before = count_programs()
    assert before > compiled.MOST_PROGRAMS
    assert code.make_room()
    assert count_programs() < before - 3
    assert not code.make_room()
    used = compiled.memory_in_use()
    code = CompiledCode(in_use=iter((used, used + 10, used, used)).__next__)
    monkeypatch.setattr(compiled, "MOST_GROWTH", 5)
    assert [code.make_room() for _ in range(3)] == [False, True, False]


def test_every_model_of_a_visitor_has_a_dot_in_the_colour_of_its_kind(shelf, checkpoints):
    name = shelf.of("me").put(checkpoints / "time-indexed-mlp", "mine-1")
    dots = show_dots(shelf.of("me"))
    assert f'input[name="{name}"] + span::before {{ background: {colour_of("time-indexed-mlp")}; }}' in dots
    for kind in LOOKS:
        assert f'input[name="{kind}"] + span::before {{ background: {colour_of(kind)}; }}' in dots
    assert name not in show_dots(shelf)


def test_a_model_of_the_visitors_own_renames_no_other(shelf, checkpoints):
    before = shelf.of("me").choices()
    shelf.of("me").put(checkpoints / "standard", "mine-1")
    labels = [label for label, _ in shelf.of("me").choices()]
    assert labels == [*(label for label, _ in before), "Standard (mine-1)"]
