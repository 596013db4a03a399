"""What a run measured, as one JSON line: the only source of every table, figure and card."""

import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tipshare.config import ModelConfig

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One finished run, and all it takes to repeat it.

    Losses are nats per byte. `curve` and `train_curve` hold [training step, loss] pairs.

    Attributes:
        model: Label of the model in tables; the kind, or the kind and what an ablation changed in it.
        config: The model config as JSON fields.
        settings: The recipe's other fields: corpus, batch, optimizer, schedule, precision.
        command: The command that repeats the run.
        data: sha256 and size of every split.
        final: Final numbers by name, such as `valid_loss`, `valid_loss_full`, `test_loss_full`, `bits_per_byte`.
        parameters: Stored parameters by part, and `total` and `effective`.
        speed: `step_ms` (median), `step_ms_spread`, `compile_seconds`, `tokens_per_second`.
        machine: Versions of the libraries, device kind and count; no host name and no path.
    """

    recipe: str
    kind: str
    model: str
    seed: int
    config: dict[str, Any]
    settings: dict[str, Any]
    command: str
    data: dict[str, Any]
    num_steps: int
    tokens_seen: int
    curve: list[list[float]]
    train_curve: list[list[float]]
    final: dict[str, float]
    parameters: dict[str, int]
    speed: dict[str, float]
    memory: dict[str, float]
    flops: dict[str, float]
    machine: dict[str, str]
    commit: str
    finished: str
    format: int = field(default=FORMAT)

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"record format {self.format!r} is not {FORMAT}, the one this version reads")
        ModelConfig.from_dict(self.config)
        for name in ("final", "speed", "memory", "flops"):
            for key, value in getattr(self, name).items():
                if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                    raise ValueError(f"record {self.recipe}/{self.model}: {name}.{key}={value!r} is not finite")

    @property
    def id(self) -> str:
        """Short name of what was run: equal for two runs of the same recipe, config, settings, data and seed."""
        wanted = ("recipe", "config", "settings", "data", "seed")
        text = json.dumps({name: getattr(self, name) for name in wanted}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True, allow_nan=False)

    @staticmethod
    def from_json(line: str) -> "RunRecord":
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"a record must be one line of JSON: {error}") from error
        if not isinstance(fields, dict):
            raise ValueError(f"a record must be a JSON object, not {type(fields).__name__}")
        known = {each.name for each in dataclasses.fields(RunRecord)}
        if set(fields) != known:
            missing, extra = sorted(known - set(fields)), sorted(set(fields) - known)
            raise ValueError(f"not a run record: missing {missing or 'nothing'}, unknown {extra or 'nothing'}")
        return RunRecord(**fields)


def read_records(path: Path) -> list[RunRecord]:
    """All records of a JSON lines file, or of every such file in a folder; the newest of each id wins."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    newest: dict[str, RunRecord] = {}
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if line.strip():
                try:
                    record = RunRecord.from_json(line)
                except (ValueError, TypeError) as error:
                    raise ValueError(f"{file.name}, line {number}: {error}") from error
                newest[record.id] = record
    return list(newest.values())


def append_record(record: RunRecord, path: Path) -> None:
    """Add a record to a JSON lines file; a record of the same id is replaced, so a rerun does not count twice."""
    others = [each for each in read_records(path) if each.id != record.id] if path.exists() else []
    write_records([*others, record], path)


def write_records(records: Iterable[RunRecord], path: Path) -> None:
    """Write all records, first to a temporary file, so that a reader never sees half of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + f".{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.writelines(record.to_json() + "\n" for record in records)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
