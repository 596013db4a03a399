"""What one run measured: the source of every table, figure and card, and the `record.json` of a checkpoint."""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tipshare.checkpoint.reading import check_keys, parse_json
from tipshare.config import ModelConfig

FORMAT = 1
# What decides a run: two runs that agree in these fields have the same id.
IDENTITY = ("recipe", "config", "settings", "data", "seed")

# Records come from other people too, and their labels are shown to everyone who opens the page.
LONGEST_LABEL = 200
LONGEST_NAME = 1_000  # a recipe's name lists every setting that was changed
LONGEST_TEXT = 10_000
MOST_ENTRIES = 1_000
MOST_POINTS = 100_000
MOST_VALUES = 10_000
DEEPEST = 8
LARGEST_COUNT = 2**63 - 1
LARGEST_NUMBER = 1e18  # its square, which statistics need, is still an ordinary number
LARGEST_RECORD = 8 * 2**20


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One finished run, and all it takes to repeat it.

    Whatever its source, a record is checked when it is made: types, finite numbers, sizes. Losses are nats per byte.
    `curve` and `train_curve` hold [training step, loss] pairs.

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
        if type(self.format) is not int or self.format != FORMAT:
            raise ValueError(f"record format {self.format!r:.40} is not {FORMAT}, the one this version reads")
        for name, check in CHECKS.items():
            check(name, getattr(self, name))
        if "corpus" in self.settings:
            check_label("settings.corpus", self.settings["corpus"])
        drawn = self.settings.get("depth_steps", [])
        if not isinstance(drawn, list | tuple) or any(type(each) is not int or each < 1 for each in drawn):
            raise ValueError(f"settings.depth_steps={drawn!r:.60} must be a list of numbers of depth steps")
        try:
            config = ModelConfig.from_dict(self.config)
        except TypeError as error:
            raise ValueError(f"config: {str(error)[:200]}") from error
        if config.kind != self.kind:
            raise ValueError(f"kind={self.kind!r} is not the kind of its config, {config.kind!r}")
        # With the fields that did not exist when it was written, so that the same model is the same in all records.
        object.__setattr__(self, "config", config.to_dict())

    @property
    def id(self) -> str:
        """Short name of what was run: equal for two runs of the same recipe, config, settings, data and seed."""
        text = json.dumps({name: getattr(self, name) for name in IDENTITY}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_fields(self) -> dict[str, Any]:
        """The record as JSON fields."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.to_fields(), sort_keys=True, allow_nan=False)

    @staticmethod
    def from_fields(fields: Mapping[str, Any]) -> "RunRecord":
        """The record of JSON fields, or a ValueError that says what is wrong with them."""
        check_keys("not a run record", fields, {each.name for each in dataclasses.fields(RunRecord)})
        return RunRecord(**fields)

    @staticmethod
    def from_json(text: str | bytes) -> "RunRecord":
        """The record in a JSON text, or a ValueError that says what is wrong with it."""
        if len(text) > LARGEST_RECORD:
            raise ValueError(f"a record of {len(text):,} bytes is more than the {LARGEST_RECORD:,} that are read")
        return RunRecord.from_fields(parse_json(text, "the record"))


def check_label(where: str, value: Any, longest: int = LONGEST_LABEL) -> None:
    """A text that is shown as it is: of one line, without control characters and halves of characters."""
    if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
        raise ValueError(f"{where}={value!r:.60} must be a printable text of 1 to {longest:,} letters")


def _check_text(where: str, value: Any) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError(f"{where}={value!r:.60} must be a text of at most {LONGEST_TEXT:,} letters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{where}={value!r:.60} is not valid Unicode") from error


def _check_count(where: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_COUNT:
        raise ValueError(f"{where}={value!r:.60} must be a whole number, 0 or more")


def _check_number(where: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not abs(value) <= LARGEST_NUMBER:  # which NaN is not either
        raise ValueError(f"{where}={value!r:.60} is not a finite number of at most {LARGEST_NUMBER:g}")


def _check_entries(where: str, value: Any, check: Callable[[str, Any], None]) -> None:
    """A JSON object whose values all pass one check."""
    if not isinstance(value, dict) or len(value) > MOST_ENTRIES:
        raise ValueError(f"{where} must be a JSON object of at most {MOST_ENTRIES:,} entries")
    for key, each in value.items():
        check_label(f"a name in {where}", key)
        check(f"{where}.{key}", each)


def _check_curve(where: str, value: Any) -> None:
    if not isinstance(value, list) or len(value) > MOST_POINTS:
        raise ValueError(f"{where} must be a list of at most {MOST_POINTS:,} [step, loss] pairs")
    for point in value:
        if not isinstance(point, list | tuple) or len(point) != 2:
            raise ValueError(f"{where} must be a list of [step, loss] pairs, but holds {point!r:.60}")
        _check_number(where, point[0])
        _check_number(where, point[1])


def _check_json(where: str, value: Any) -> None:
    """A JSON object of any fields, neither large nor deep."""
    if not isinstance(value, dict):
        raise ValueError(f"{where}={value!r:.60} must be a JSON object")
    level, count = [value], 0
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                for key in each:
                    check_label(f"a name in {where}", key)
                inner += each.values()
            elif isinstance(each, list | tuple):
                inner += each
            elif isinstance(each, str):
                _check_text(where, each)
            elif each is not None and not isinstance(each, bool):
                _check_number(where, each)
        count += len(inner)
        if count > MOST_VALUES:
            raise ValueError(f"{where} holds more than {MOST_VALUES:,} values")
        level = inner
    if level:
        raise ValueError(f"{where} is nested more than {DEEPEST} levels deep")


_check_numbers = partial(_check_entries, check=_check_number)

CHECKS: dict[str, Callable[[str, Any], None]] = {
    "recipe": partial(check_label, longest=LONGEST_NAME),
    "kind": check_label,
    "model": check_label,
    "seed": _check_count,
    "config": _check_json,
    "settings": _check_json,
    "command": _check_text,
    "data": _check_json,
    "num_steps": _check_count,
    "tokens_seen": _check_count,
    "curve": _check_curve,
    "train_curve": _check_curve,
    "final": _check_numbers,
    "parameters": partial(_check_entries, check=_check_count),
    "speed": _check_numbers,
    "memory": _check_numbers,
    "flops": _check_numbers,
    "machine": partial(_check_entries, check=_check_text),
    "commit": _check_text,
    "finished": _check_text,
}
