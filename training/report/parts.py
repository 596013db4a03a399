"""A written part of a document: where it stands, and what writes it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from training.report.tables import to_markdown
from training.results.records import RunRecord
from training.results.views.table import Table

NOT_YET = "Not measured yet."

Records = Sequence[RunRecord]


@dataclass(frozen=True)
class Part:
    """A written part of a document.

    Attributes:
        file: The document, seen from the project's folder.
        name: What the marks around the part call it.
        write: Its text, from the records, from a folder of benchmark reports, or from both.
        reads: Which of the two `write` takes.
    """

    file: str
    name: str
    write: Callable[..., str | Table]
    reads: Literal["records", "benchmarks", "both"] = "records"

    def text(self, records: Records, benchmarks: Path | None) -> str | None:
        """What stands between the marks; None if it needs benchmark reports and there are none."""
        if self.reads == "records":
            return join(self.write(records))
        if benchmarks is None:
            return None
        return join(self.write(benchmarks) if self.reads == "benchmarks" else self.write(records, benchmarks))


def join(*parts: str | Table) -> str:
    """Paragraphs and tables in Markdown; what is empty is left out."""
    texts = [(to_markdown(part) if isinstance(part, Table) else part).strip() for part in parts]
    return "\n\n".join(text for text in texts if text)


def read_reports(folder: Path, name: str) -> list[dict[str, Any]]:
    """The reports `NAME*.json` in a folder of benchmarks."""
    paths = sorted(folder.glob(f"{name}*.json"), key=lambda path: path.stem)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]
