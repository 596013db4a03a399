"""The numbers in README and docs: written from records and benchmarks, between marks, and checked by a test."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tipshare.files import write_text
from training.report.folder import headline, results_table_markdown, significance_table_markdown
from training.report.readme_figures import README_FIGURES
from training.report.tables import to_markdown
from training.results.records import RunRecord
from training.results.views.ablations import ablation_cells, ablation_table, question_table
from training.results.views.document_tables import (
    depth_table,
    generation_table,
    machine_in_words,
    shape_table,
    showcase_in_words,
    showcase_table,
    timeline_table,
    training_table,
    trials_table,
    usual_runs,
)
from training.results.views.dynamics_tables import (
    flow_table,
    growth_in_words,
    growth_table,
    reading_table,
    text_in_words,
)
from training.results.views.finetuning import (
    before_and_after,
    depth_in_words,
    gains_in_words,
    is_same_text,
    tuned_groups,
    tuned_table,
)
from training.results.views.promise_tables import crowd_in_words, crowd_table, fuzz_table, loading_table
from training.results.views.table import Table

RECIPE = "published-1000"
FINETUNING_FIGURE = "finetuning.png"
DYNAMICS_PAGE = "docs/results/dynamics.md"
PROMISE_PAGE = "docs/guide/promise.md"
NOT_YET = "Not measured yet."

Records = Sequence[RunRecord]


@dataclass(frozen=True)
class Part:
    """A written part of a document.

    Attributes:
        file: The document, seen from the project's folder.
        name: What the marks around the part call it.
        write: Its text, from the records or, for a part `from_benchmarks`, from a folder of benchmark reports.
    """

    file: str
    name: str
    write: Callable[..., str | Table]
    from_benchmarks: bool = False


def short_results(records: Records) -> str:
    """One sentence and the measured rows."""
    usual = usual_runs(records)
    return _join(headline(usual, recipe=RECIPE), results_table_markdown(usual, recipe=RECIPE))


def results_with_published(records: Records) -> str:
    """The measured rows, and the published ones below them."""
    return results_table_markdown(usual_runs(records), recipe=RECIPE, source="both")


def all_pairs(records: Records) -> str:
    """Every pair of models with its tests."""
    return significance_table_markdown(usual_runs(records), recipe=RECIPE)


def ablations(records: Records) -> str:
    """Where weights come from, and what each source adds to the loss."""
    cells = ablation_cells(records)
    return _join(ablation_table(cells), question_table(cells)) if cells else NOT_YET


def checkpoints(records: Records) -> str:
    """The losses of the bundled checkpoints."""
    return _join(showcase_in_words(records), showcase_table(records))


def finetuning(records: Records) -> str:
    """From one text to another: the figure, and a table of every method."""
    parts: list[str | Table] = []
    for group, models in tuned_groups(records):
        if models and not is_same_text(group):
            if group.recipe == README_FIGURES[FINETUNING_FIGURE][0]:
                parts.append(f"![Loss against trained parameters, by kind](../{FINETUNING_FIGURE})")
            parts += [f"### {before_and_after(group)}", gains_in_words(models), tuned_table(models)]
    return _join(*parts) if parts else NOT_YET


def finetuned_depths(records: Records) -> str:
    """Another number of depth steps on the same text."""
    parts: list[str | Table] = []
    for group, models in tuned_groups(records):
        if models and is_same_text(group):
            parts += [depth_in_words(models), tuned_table(models)]
    return _join(*parts) if parts else NOT_YET


def speed_tables(name: str, make_table: Callable[[dict], Table]) -> Callable[[Path], str]:
    """A writer of one table per report `NAME*.json` in a folder.

    There may be reports of several machines, since which program is faster depends on the processor.
    """

    def write(folder: Path) -> str:
        paths = sorted(folder.glob(f"{name}*.json"), key=lambda path: path.stem)
        reports = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        parts: list[str | Table] = []
        for report in reports:
            parts += [machine_in_words(report), make_table(report)]
        return _join(*parts) if parts else NOT_YET

    return write


def from_report(name: str, *parts: Callable[[dict], str | Table]) -> Callable[[Path], str]:
    """A writer of sentences and tables from the report NAME.json in a folder."""

    def write(folder: Path) -> str:
        path = folder / f"{name}.json"
        if not path.is_file():
            return NOT_YET
        report = json.loads(path.read_text(encoding="utf-8"))
        found = [part(report) for part in parts]
        return _join(*found) if all(each.rows if isinstance(each, Table) else each for each in found) else NOT_YET

    return write


PARTS: tuple[Part, ...] = (
    Part("README.md", "results", short_results),
    Part("docs/results/index.md", "headline", lambda records: headline(usual_runs(records), recipe=RECIPE)),
    Part("docs/results/index.md", "results", results_with_published),
    Part("docs/results/index.md", "pairs", all_pairs),
    Part("docs/results/ablations.md", "ablations", ablations),
    Part("docs/results/published.md", "timeline", timeline_table),
    Part("docs/results/published.md", "shapes", shape_table),
    Part("docs/results/checkpoints.md", "checkpoints", checkpoints),
    Part("docs/results/checkpoints.md", "depth steps", depth_table),
    Part("docs/results/trials.md", "trials", trials_table),
    Part("docs/results/finetuning.md", "fine-tuning", finetuning),
    Part("docs/results/finetuning.md", "depth", finetuned_depths),
    Part("docs/results/speed.md", "training speed", speed_tables("training", training_table), True),
    Part("docs/results/speed.md", "generation speed", speed_tables("generation", generation_table), True),
    Part(DYNAMICS_PAGE, "eigenvalues", from_report("dynamics", growth_in_words, growth_table), True),
    Part(DYNAMICS_PAGE, "flow", from_report("dynamics", text_in_words, flow_table), True),
    Part(DYNAMICS_PAGE, "lens", from_report("dynamics", text_in_words, reading_table), True),
    Part(PROMISE_PAGE, "hostile cases", from_report("promise", fuzz_table), True),
    Part(PROMISE_PAGE, "cost of checking", from_report("promise", loading_table), True),
    Part(PROMISE_PAGE, "crowds", from_report("promise", crowd_in_words, crowd_table), True),
)


def written_parts(records: Records, benchmarks: Path | None = None) -> dict[Part, str]:
    """The text of every part, with its marks; of the speed only if a folder of benchmark reports is given."""
    texts = {}
    for part in PARTS:
        if not part.from_benchmarks:
            texts[part] = between_marks(part.name, part.write(records))
        elif benchmarks is not None:
            texts[part] = between_marks(part.name, part.write(benchmarks))
    return texts


def update_documents(root: Path, records: Records, benchmarks: Path | None = None) -> None:
    """Replace what stands between the marks of README and docs in a project's folder, or nothing at all."""
    _replace(root, written_parts(records, benchmarks))


def update_page(root: Path, file: str, benchmarks: Path) -> None:
    """Replace what benchmark reports say between the marks of one page, or nothing at all."""
    parts = [part for part in PARTS if part.file == file and part.from_benchmarks]
    _replace(root, {part: between_marks(part.name, part.write(benchmarks)) for part in parts})


def _replace(root: Path, texts: dict[Part, str]) -> None:
    documents: dict[Path, str] = {}
    for part, written in texts.items():
        path = root / part.file
        if path not in documents and not path.is_file():
            raise ValueError(f"there is no {path}, for the {part.name} to go in: give the README of a checkout")
        text = documents.get(path) or path.read_text(encoding="utf-8")
        begin, end = _marks(part.name)
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"{path} must hold one part from {begin!r} to {end!r}, for the {part.name} to go in")
        documents[path] = pattern.sub(lambda _, written=written: written, text)
    for path, text in documents.items():
        write_text(path, text)


def between_marks(name: str, part: str | Table) -> str:
    """A part of a document with the marks by which it is found again."""
    begin, end = _marks(name)
    return f"{begin}\n\n{_join(part)}\n\n{end}"


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}, written by python -m training report -->", f"<!-- end of {name} -->"


def _join(*parts: str | Table) -> str:
    return "\n\n".join((to_markdown(part) if isinstance(part, Table) else part).strip() for part in parts)
