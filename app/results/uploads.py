"""Records that a visitor uploads: bounded in number and size, with errors in words, and forgotten when they leave."""

import json
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.results.actions import Board, bundled_board
from app.results.data import all_groups, bundled_records, groups_of, mark_as_yours
from tipshare.checkpoint.record import RunRecord
from training.results.records import parse_records

MOST_BYTES = 5_000_000
MOST_RECORDS = 500
# Figures draw every point of a curve.
MOST_POINTS = 5_000
MOST_POINTS_IN_ALL = 50_000
# Every pair of models is tested, and the work of a test doubles with every seed.
MOST_MODELS, MOST_SEEDS = 24, 10
# Recipe, data and budget tell groups of runs apart; each is a table of its own.
MOST_GROUPS = 24
# Bytes of the files whose records are kept, of all visitors together; the oldest go first.
MOST_KEPT_BYTES = 20_000_000
NOTHING = ""


@dataclass(frozen=True)
class Upload:
    """What one visitor uploaded, together with the bundled runs."""

    visitor: str
    size: int
    board: Board


class Uploads:
    """The uploads of all visitors, by names that cannot be guessed; safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: OrderedDict[str, Upload] = OrderedDict()

    def take(self, visitor: str, path: Path) -> tuple[str, list[RunRecord]]:
        """Read a file, delete it, and keep its records in the place of earlier ones; returns their name and them."""
        try:
            size = path.stat().st_size
            records = mark_as_yours(read_upload(path))
        except OSError as error:
            raise ValueError(f"the file is gone: upload it again ({error.strerror})") from error
        finally:
            path.unlink(missing_ok=True)
        groups = groups_of([*bundled_records(), *records])
        name = secrets.token_hex(16)
        self.forget(visitor)
        with self._guard:
            self._kept[name] = Upload(visitor, size, Board(groups))
            total = sum(each.size for each in self._kept.values())
            while total > MOST_KEPT_BYTES and len(self._kept) > 1:
                total -= self._kept.popitem(last=False)[1].size
        return name, records

    def board(self, name: str) -> Board:
        """What can be shown with an upload, or without one for `NOTHING`; ValueError if it was forgotten."""
        if name == NOTHING:
            return bundled_board(all_groups())
        with self._guard:
            if name not in self._kept:
                raise ValueError("your upload was dropped to make room for others: choose the file again")
            self._kept.move_to_end(name)
            return self._kept[name].board

    def forget(self, visitor: str) -> None:
        """Drop what a visitor uploaded."""
        with self._guard:
            for name in [name for name, each in self._kept.items() if each.visitor == visitor]:
                del self._kept[name]


def read_upload(path: Path) -> list[RunRecord]:
    """The records of an uploaded JSON lines file, or a ValueError that says what is wrong with it."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"the file has {size:,} bytes; upload at most {MOST_BYTES:,}")
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("the file is not UTF-8 text; a runs.jsonl holds one JSON object per line") from error
    records: dict[str, RunRecord] = {}
    for count, record in enumerate(parse_records(text, "the file"), start=1):
        if count > MOST_RECORDS:
            raise ValueError(f"the file holds more than {MOST_RECORDS:,} records; upload at most that many")
        points = max(len(record.curve), len(record.train_curve))
        if points > MOST_POINTS:
            raise ValueError(f"a curve of seed {record.seed} has {points:,} points; upload at most {MOST_POINTS:,}")
        records[record.id] = record
    if not records:
        raise ValueError("the file holds no record; a runs.jsonl holds one JSON object per line")
    _check_work(list(records.values()))
    return list(records.values())


def _check_work(records: Sequence[RunRecord]) -> None:
    """Raise ValueError if tests and figures of these records would keep other visitors waiting."""
    points = sum(len(each.curve) + len(each.train_curve) for each in records)
    if points > MOST_POINTS_IN_ALL:
        raise ValueError(f"the curves have {points:,} points in all; upload at most {MOST_POINTS_IN_ALL:,}")
    groups = {_group_of(each) for each in records}
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"the runs are of {len(groups)} recipes or texts; upload at most {MOST_GROUPS} at once")
    seeds = Counter((_group_of(each), _model_of(each)) for each in records)
    models = Counter(group for group, _ in seeds)
    if max(models.values()) > MOST_MODELS:
        raise ValueError(f"a recipe has {max(models.values())} models; upload at most {MOST_MODELS} of each recipe")
    if max(seeds.values()) > MOST_SEEDS:
        raise ValueError(f"a model has {max(seeds.values())} seeds; upload at most {MOST_SEEDS} of each model")


def _group_of(record: RunRecord) -> str:
    facts = (record.recipe, record.settings.get("corpus"), record.num_steps, record.tokens_seen, record.data)
    return json.dumps(facts, sort_keys=True)


def _model_of(record: RunRecord) -> str:
    return json.dumps([record.model, record.settings, record.config], sort_keys=True)
