"""Hostile records, uploads and training states: refused in words, or read as they stand there."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np

from app.results.actions import Board, control
from app.results.data import groups_of, mark_as_yours
from app.results.uploads import read_upload
from tests.hostile.limits import refused
from tests.hostile.mutations import draw, mutate_bytes, mutate_json, mutate_weights
from tests.training.results.factory import make_record
from tipshare.checkpoint import RunRecord
from training.engine.state import SavedState, load_newest, save_state

# Tables, tests and figures of what was read are drawn for one upload in so many.
SHOWN = 10


def run_record(random: np.random.Generator) -> bool:
    """Whether a changed record was read; then it says what its text says."""
    text = mutate_json(make_record(seed=int(random.integers(9))).to_json().encode(), random)
    try:
        record = RunRecord.from_json(text)
    except ValueError as error:
        return refused(error)
    written, found = json.loads(text), json.loads(record.to_json())
    # Fields that a config does not name have their defaults.
    assert written.pop("config").items() <= found.pop("config").items()
    assert written == found
    assert record.model.isprintable()
    return True


class Uploads:
    """Files of records, of which one line is changed, or the file as a whole."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "runs.jsonl"
        self._lines = [make_record(seed=seed, loss=2 + seed / 10).to_json().encode() for seed in range(3)]
        self._lines += [make_record("time-indexed-ssm", seed, 1.9).to_json().encode() for seed in range(2)]

    def run(self, random: np.random.Generator) -> bool:
        lines = list(self._lines)
        at = int(random.integers(len(lines)))
        lines[at] = mutate_json(lines[at], random)
        content = b"\n".join(lines)
        self._path.write_bytes(mutate_bytes(content, random) if random.random() < 0.3 else content)
        try:
            records = read_upload(self._path)
        except ValueError as error:
            return refused(error)
        assert all(each.to_json() for each in records)
        if random.integers(SHOWN) == 0:
            _show(records)
        return True


def _show(records: list[RunRecord]) -> None:
    """Everything the page shows of records; what cannot be computed is said in words there."""
    board = Board(groups_of(mark_as_yours(records)))
    chosen = control(board.groups, None, "", None, show_uploaded=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of losses that hardly differ
        results = board.show(chosen.group, tuple(chosen.chosen), "both")
    assert "<script" not in results.headline + results.notes + results.significance


class States:
    """Saved states of a run, of which one file is changed."""

    def __init__(self, folder: Path) -> None:
        self._good, self._copy = folder / "state", folder / "hostile-state"
        self._arrays = {"weight": np.linspace(0, 1, 50, dtype=np.float32)}
        self._facts = {"run": {"recipe": "tiny", "seed": 1}, "history": {"curve": [[2, 1.5]]}}
        for step in (1, 2):
            save_state(self._good, SavedState(step, self._arrays, self._facts))

    def run(self, random: np.random.Generator) -> bool:
        """Whether a state was found after all; then it is one of those that were saved, bit by bit."""
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self._good, self._copy)
        for _ in range(int(random.integers(1, 3))):
            path = draw(random, sorted(self._copy.iterdir()))
            mutate = mutate_json if path.suffix == ".json" else mutate_weights
            path.write_bytes(mutate(path.read_bytes(), random))
        said: list[str] = []
        try:
            state = load_newest(self._copy, said.append)
        except ValueError as error:
            return refused(error)
        assert state is not None
        assert state.step in (1, 2)
        assert state.facts == self._facts
        assert state.arrays["weight"].tobytes() == self._arrays["weight"].tobytes()
        assert state.step == 2 or said
        return True
