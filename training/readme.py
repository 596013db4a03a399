"""The results in the README: written from records, between two marks, and checked by a test."""

import re
from collections.abc import Sequence
from pathlib import Path

from training.records import RunRecord
from training.report import headline, results_table_markdown

RECIPE = "published-1000"
BEGIN, END = "<!-- results from checkpoints/runs.jsonl -->", "<!-- end of results -->"


def results_section(records: Sequence[RunRecord]) -> str:
    """What stands between the marks: one sentence and the table, with the published rows below ours."""
    table = results_table_markdown(records, recipe=RECIPE, source="both")
    return f"{BEGIN}\n\n{headline(records, recipe=RECIPE)}\n\n{table.strip()}\n\n{END}"


def update_readme(records: Sequence[RunRecord], path: Path) -> None:
    """Replace what stands between the marks of a README."""
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{path} must hold one part from {BEGIN!r} to {END!r}, for the results to go in")
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(pattern.sub(lambda _: results_section(records), text), encoding="utf-8")
    temporary.replace(path)
