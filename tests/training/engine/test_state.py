"""States on disk: whole or refused, the newest two kept."""

import hashlib
import json
import os

import numpy as np
import pytest

from tests.hostile.limits import full_disk
from tests.training.engine.tiny import assert_same_arrays
from training.engine.state import (
    SavedState,
    flatten,
    load_newest,
    save_state,
    saved_steps,
    unflatten,
)

ARRAYS = {"model": np.linspace(0, 1, 7, dtype=np.float32), "count": np.asarray(3, np.int32)}


def save(folder, *steps):
    for step in steps:
        save_state(folder, SavedState(step, {**ARRAYS, "step": np.asarray([step])}, facts_of(step)))


def facts_of(step):
    return {"run": {}, "history": {"curve": [[step, 0.1]]}}


def test_a_state_comes_back_bit_by_bit_and_the_newest_two_are_kept(tmp_path):
    save(tmp_path, 9, 10, 100)
    assert saved_steps(tmp_path) == [100, 10]
    assert len(list(tmp_path.iterdir())) == 4
    state = load_newest(tmp_path, pytest.fail)
    assert (state.step, state.facts) == (100, facts_of(100))
    assert_same_arrays(state.arrays, {**ARRAYS, "step": np.asarray([100])})


def test_nothing_saved_is_no_state(tmp_path):
    assert load_newest(tmp_path / "absent", pytest.fail) is None


def spoil_arrays(folder):
    path = folder / "step-00000002.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 4  # in the last array: only the checksum can tell
    path.write_bytes(content)


def cut_arrays(folder):
    path = folder / "step-00000002.safetensors"
    path.write_bytes(path.read_bytes()[:40])


def lose_arrays(folder):
    (folder / "step-00000002.safetensors").unlink()


def spoil_facts(folder):
    path = folder / "step-00000002.json"
    path.write_text(path.read_text().replace("0.1", "0.2"))


def cut_facts(folder):
    path = folder / "step-00000002.json"
    path.write_text(path.read_text()[:30])


def empty_facts(folder):
    (folder / "step-00000002.json").write_text(json.dumps([]))


def pipe_for_facts(folder):
    (folder / "step-00000002.json").unlink()
    os.mkfifo(folder / "step-00000002.json")


def pipe_for_arrays(folder):
    (folder / "step-00000002.safetensors").unlink()
    os.mkfifo(folder / "step-00000002.safetensors")


def deep_facts(folder):
    (folder / "step-00000002.json").write_text("[" * 100_000)


def sealed(folder, content):
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    (folder / "step-00000002.json").write_text(json.dumps({"content": content, "sha256": digest}))


def forge_no_facts(folder):
    sealed(folder, json.dumps({"step": 2}))


def forge_another_step(folder):
    sealed(folder, json.dumps({"step": 10**400, "arrays_sha256": 3, "facts": facts_of(2)}))


def forge_half_a_character(folder):
    sealed(folder, "\ud800")


def forge_deep_facts(folder):
    sealed(folder, "[" * 100_000)


DAMAGES = [spoil_arrays, cut_arrays, lose_arrays, spoil_facts, cut_facts, empty_facts, deep_facts]
DAMAGES += [pipe_for_facts, pipe_for_arrays]
FORGERIES = [forge_no_facts, forge_another_step, forge_half_a_character, forge_deep_facts]


@pytest.mark.parametrize("damage", [*DAMAGES, *FORGERIES])
def test_damage_falls_back_to_the_state_before_and_says_so(tmp_path, damage):
    save(tmp_path, 1, 2)
    damage(tmp_path)
    said = []
    assert load_newest(tmp_path, said.append).step == 1
    assert len(said) == 1
    assert "the state of step 2 is damaged" in said[0]


def test_damage_to_all_states_is_an_error_not_a_fresh_start(tmp_path):
    save(tmp_path, 2)
    spoil_facts(tmp_path)
    with pytest.raises(ValueError, match=r"all saved states of this run are damaged \(2\); delete its folder"):
        load_newest(tmp_path, lambda text: None)


@pytest.mark.parametrize("room", [0, 100, 500])
def test_a_full_disk_is_an_error_of_the_system_and_leaves_the_state_before(tmp_path, room):
    save(tmp_path, 1)
    names = sorted(path.name for path in tmp_path.iterdir())
    with full_disk(room), pytest.raises(OSError, match="File too large"):
        save_state(tmp_path, SavedState(2, {"model": np.zeros(1000, np.float32)}, facts_of(2)))
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert load_newest(tmp_path, pytest.fail).step == 1


def test_half_written_files_are_no_states(tmp_path):
    save(tmp_path / "state", 1)
    (tmp_path / "state" / "step-00000002.tmp").write_bytes(b"half")
    (tmp_path / "state" / "step-00000003.safetensors").write_bytes(b"arrays without facts")
    assert load_newest(tmp_path / "state", pytest.fail).step == 1


def test_stray_files_are_named_and_left_alone(tmp_path):
    save(tmp_path, 1)
    (tmp_path / "step-two.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    said = []
    assert load_newest(tmp_path, said.append).step == 1
    assert len(said) == 1
    assert "is no state of a run, which is ignored: 'notes.txt', 'step-two.json'" in said[0]
    save(tmp_path, 2, 3, 4)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_tree_comes_back_and_another_tree_is_refused():
    tree = {"a": np.ones((2, 3), np.float32), "b": [np.zeros(4, np.int32)]}
    back = unflatten(flatten(tree), tree)
    assert_same_arrays(flatten(back), flatten(tree))
    with pytest.raises(ValueError, match="belongs to another model: 1 arrays differ"):
        unflatten(flatten(tree), {**tree, "c": np.ones(1)})
    with pytest.raises(ValueError, match=r"\['a'\] is \(2, 3\), not \(3, 2\)"):
        unflatten(flatten(tree), {**tree, "a": np.ones((3, 2), np.float32)})
