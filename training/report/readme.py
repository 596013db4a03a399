"""The numbers in the README: written from records and benchmarks, between marks, and checked by a test."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from training.report.folder import headline, results_table_markdown, significance_table_markdown
from training.report.tables import to_markdown
from training.results.records import RunRecord
from training.results.views.ablations import ablation_cells, ablation_table, question_table
from training.results.views.document_tables import (
    depth_table,
    generation_table,
    machine_in_words,
    search_table,
    shape_table,
    showcase_in_words,
    showcase_table,
    timeline_table,
    training_table,
    usual_runs,
)

RECIPE = "published-1000"
NOT_YET = "Not measured yet."


def results_section(records: Sequence[RunRecord]) -> str:
    """One sentence, the table with the published rows below ours, and every pair of models."""
    usual = usual_runs(records)
    parts = [
        headline(usual, recipe=RECIPE),
        results_table_markdown(usual, recipe=RECIPE, source="both"),
        significance_table_markdown(usual, recipe=RECIPE),
    ]
    return between_marks("results", "\n\n".join(part.strip() for part in parts))


def ablation_section(records: Sequence[RunRecord]) -> str:
    """Where weights come from, and what each source adds to the loss."""
    cells = ablation_cells(records)
    tables = f"{to_markdown(ablation_table(cells))}\n\n{to_markdown(question_table(cells))}"
    return between_marks("ablations", tables if cells else NOT_YET)


def repeat_section(records: Sequence[RunRecord]) -> str:
    """The longer published run and the published shapes, repeated."""
    return between_marks(
        "repetitions", f"{to_markdown(timeline_table(records))}\n\n{to_markdown(shape_table(records))}"
    )


def showcase_section(records: Sequence[RunRecord]) -> str:
    """The bundled checkpoints: their losses, other numbers of depth steps, and the search for learning rates."""
    tables = (showcase_table(records), depth_table(records), search_table(records))
    return between_marks("showcase", "\n\n".join([showcase_in_words(records), *map(to_markdown, tables)]))


def speed_section(folder: Path) -> str:
    """A table of every benchmark report in a folder, `training*.json` and then `generation*.json`.

    There may be reports of several machines, since which program is faster depends on the processor.
    """
    tables = []
    for name, make_table in (("training", training_table), ("generation", generation_table)):
        for path in sorted(folder.glob(f"{name}*.json"), key=lambda path: path.stem):
            report = json.loads(path.read_text(encoding="utf-8"))
            tables += [machine_in_words(report), to_markdown(make_table(report))]
    return between_marks("speed", "\n\n".join(tables) or NOT_YET)


# The parts that come from records alone, by the names in their marks.
SECTIONS: dict[str, Callable[[Sequence[RunRecord]], str]] = {
    "results": results_section,
    "ablations": ablation_section,
    "repetitions": repeat_section,
    "showcase": showcase_section,
}


def between_marks(name: str, text: str) -> str:
    """A part of the README with the marks by which it is found again."""
    begin, end = _marks(name)
    return f"{begin}\n\n{text}\n\n{end}"


def update_readme(path: Path, records: Sequence[RunRecord], benchmarks: Path | None = None) -> None:
    """Replace what stands between the marks of a README; the speed only if a folder of benchmark reports is given."""
    sections = {name: write(records) for name, write in SECTIONS.items()}
    if benchmarks is not None:
        sections["speed"] = speed_section(benchmarks)
    text = path.read_text(encoding="utf-8")
    for name, section in sections.items():
        begin, end = _marks(name)
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"{path} must hold one part from {begin!r} to {end!r}, for the {name} to go in")
        text = pattern.sub(lambda _, section=section: section, text)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}, written by python -m training report -->", f"<!-- end of {name} -->"
