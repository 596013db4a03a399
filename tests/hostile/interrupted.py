"""Runs and pushes that are ended at random moments and repeated: nobody can tell that anything happened."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.hostile.endings import KILLED, LONGEST_DELAY, Ending, Life
from tests.hub.server import TOKEN, LoopbackHub, running_hub
from tests.training.engine.processes import CHANGES
from tests.training.engine.tiny import repeatable
from training.results.records import RunRecord, read_records

SHORT = ["num_steps=6", "warmup_steps=0", "batch_size=2", "length=8", "evaluate_every=2", "save_every=2"]
SHORT += ["evaluation_windows=4", "sample_every=0", *CHANGES]
REPOSITORY = "org/interrupted"
# Of a run or push, how often it is ended before it may come to its end.
MOST_ENDINGS = 4


@dataclass
class Endings:
    """How many processes were ended in which way, and how many came to their end after that."""

    killed: int = 0
    full: int = 0
    finished: int = 0

    @property
    def total(self) -> int:
        return self.killed + self.full


class Runs:
    """Tiny runs of one text; each must end as the first one did, which nothing disturbed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "text.txt").write_bytes(bytes(range(97, 105)) * 100)
        whole = Life(self._arguments("whole"), folder / "whole")
        code, said = whole.wait()
        assert code == 0, said
        self._events, self._outcome = whole.events, outcome(folder / "whole")

    @property
    def finished(self) -> Path:
        """The folder of a finished run."""
        (record,) = (self._folder / "whole").rglob("record.json")
        return record.parent

    def run(self, random: np.random.Generator, counts: Endings) -> None:
        """One run that is ended a few times, and repeated until it is finished."""
        place = self._folder / "ended"
        shutil.rmtree(place, ignore_errors=True)
        for number in range(MOST_ENDINGS + 1):
            ending = Ending.draw(random, self._events) if number < MOST_ENDINGS else None
            code, said = Life(self._arguments(place.name), place, ending).wait()
            assert "Traceback" not in said, said
            if code == 0:
                break
            assert code == (KILLED if ending and ending.how == "kill" else 2), said
            assert code == KILLED or "File too large" in said, said
            counts.killed += code == KILLED
            counts.full += code == 2
        assert outcome(place) == self._outcome
        counts.finished += 1

    def _arguments(self, out: str) -> list[str]:
        given = ["--data-dir", str(self._folder / "text.txt"), "--set", *SHORT, "--out", str(self._folder / out)]
        return ["train", "quick", "--model", "standard", *given]


def outcome(out: Path) -> dict[str, Any]:
    """All that a run leaves, but what differs from one time to the next; its files must be whole."""
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*"))
    (record,) = (RunRecord.from_json(path.read_bytes()) for path in out.rglob("record.json"))
    assert read_records(out / "runs.jsonl") == [record]
    contents = [path.read_bytes() for name in ("model.safetensors", "metrics.jsonl") for path in out.rglob(name)]
    return {"files": files, "record": repeatable(record), "contents": contents}


class Pushes:
    """Pushes of a finished run to a Hub on this machine, which has other files of that name before."""

    def __init__(self, run: Path, hub: LoopbackHub) -> None:
        self._run, self._hub = run, hub
        self._names = {"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
        self._names |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        code, said = self._start().wait()
        assert code == 0, said
        self._after = self._repository.files()
        self._requests = len(hub.requests)
        self._repository.commit("main", {name: self._after[".gitattributes"] for name in self._after})
        self._before = self._repository.files()

    def run(self, random: np.random.Generator, counts: Endings) -> None:
        """One push that is killed, and repeated."""
        if self._repository.files() != self._before:
            self._repository.commit("main", self._before)
        commits, number = len(self._repository.history), len(self._hub.requests) + int(random.integers(self._requests))
        life = self._start()
        life.kill_when(lambda: len(self._hub.requests) > number, random.uniform(0, 4 * LONGEST_DELAY))
        code, said = life.wait()
        assert code in (0, KILLED), said
        counts.killed += code == KILLED
        assert self._repository.files() in (self._before, self._after)
        code, said = self._start().wait()
        assert code == 0, said
        assert self._repository.files() == self._after
        assert len(self._repository.history) == commits + 1
        counts.finished += 1

    @property
    def _repository(self) -> Any:
        return self._hub.repository(REPOSITORY)

    def _start(self) -> Life:
        return Life(["push", str(self._run), "--repo", REPOSITORY], self._run, environment=self._names)


def interrupt(folder: Path, *, seed: int, endings: int, say: Callable[[Any], None] = print) -> dict[str, Any]:
    """End processes so many times: three of four runs, one of four pushes."""
    random, counts = np.random.default_rng(seed), {"training": Endings(), "push": Endings()}
    runs = Runs(folder)
    with running_hub() as hub:
        pushes = Pushes(runs.finished, hub)
        while (total := sum(each.total for each in counts.values())) < endings:
            if counts["push"].total * 4 < total:
                pushes.run(random, counts["push"])
            else:
                runs.run(random, counts["training"])
            say(counts)
    return {name: asdict(each) for name, each in counts.items()}
