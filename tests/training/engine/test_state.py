"""States on disk: whole or refused, the newest two kept."""

import json

import numpy as np
import pytest

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
        save_state(folder, SavedState(step, {**ARRAYS, "step": np.asarray([step])}, {"curve": [[step, 0.1]]}))


def test_a_state_comes_back_bit_by_bit_and_the_newest_two_are_kept(tmp_path):
    save(tmp_path, 9, 10, 100)
    assert saved_steps(tmp_path) == [100, 10]
    assert len(list(tmp_path.iterdir())) == 4
    state = load_newest(tmp_path, pytest.fail)
    assert (state.step, state.facts) == (100, {"curve": [[100, 0.1]]})
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


@pytest.mark.parametrize("damage", [spoil_arrays, cut_arrays, lose_arrays, spoil_facts, cut_facts, empty_facts])
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


def test_half_written_files_are_no_states(tmp_path):
    save(tmp_path / "state", 1)
    (tmp_path / "state" / "step-00000002.tmp").write_bytes(b"half")
    (tmp_path / "state" / "step-00000003.safetensors").write_bytes(b"arrays without facts")
    assert load_newest(tmp_path / "state", pytest.fail).step == 1


def test_a_tree_comes_back_and_another_tree_is_refused():
    tree = {"a": np.ones((2, 3), np.float32), "b": [np.zeros(4, np.int32)]}
    back = unflatten(flatten(tree), tree)
    assert_same_arrays(flatten(back), flatten(tree))
    with pytest.raises(ValueError, match="belongs to another model: 1 arrays differ"):
        unflatten(flatten(tree), {**tree, "c": np.ones(1)})
    with pytest.raises(ValueError, match=r"\['a'\] is \(2, 3\), not \(3, 2\)"):
        unflatten(flatten(tree), {**tree, "a": np.ones((3, 2), np.float32)})
