"""The numbers in README and docs: written from records and benchmarks, between marks, and checked by a test."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from tipshare.files import write_text
from training.report.depth_parts import (
    depth_speed,
    early_exit,
    features,
    fixed_and_drawn,
    gates,
    loops,
    price,
    reach,
    scaling,
)
from training.report.parts import NOT_YET, Part, Records, join, read_reports
from training.report.readme_figures import FINETUNING, picture
from training.report.result_parts import (
    ablations,
    checkpoints,
    dropped,
    equal_time,
    equal_time_short,
    leading_headline,
    leading_pairs,
    leading_protocol,
    leading_results,
    other_protocols,
    published_headline,
    published_pairs,
    results_with_published,
    short_results,
    step_times,
    trials,
    variants,
)
from training.results.naming import before_and_after
from training.results.views.document_tables import (
    depth_table,
    generation_table,
    machine_in_words,
    other_depths_table,
    shape_table,
    timeline_table,
    training_table,
)
from training.results.views.dynamics_tables import (
    flow_table,
    growth_in_words,
    growth_table,
    reading_table,
    text_in_words,
)
from training.results.views.finetuning import (
    depth_in_words,
    gains_in_words,
    is_same_text,
    tuned_groups,
    tuned_table,
)
from training.results.views.promise_tables import (
    crowd_in_words,
    crowd_table,
    endings_table,
    fuzz_table,
    loading_table,
)
from training.results.views.table import Table

DYNAMICS_PAGE = "docs/results/dynamics.md"
PROMISE_PAGE = "docs/guide/promise.md"


def finetuning(records: Records) -> str:
    """From one text to another: the figure, and a table of every method."""
    parts: list[str | Table] = []
    for group, models in tuned_groups(records):
        if models and not is_same_text(group):
            parts.append(picture("finetuning.png", records) if group.recipe == FINETUNING else "")
            parts += [f"### {before_and_after(group)}", gains_in_words(models), tuned_table(models)]
    return join(*parts) if parts else NOT_YET


def finetuned_depths(records: Records) -> str:
    """Another number of depth steps on the same text."""
    parts: list[str | Table] = []
    for group, models in tuned_groups(records):
        if models and is_same_text(group):
            parts += [depth_in_words(models), tuned_table(models)]
    return join(*parts) if parts else NOT_YET


def speed_tables(name: str, make_table: Callable[[dict], Table]) -> Callable[[Path], str]:
    """A writer of one table per report `NAME*.json` in a folder.

    There may be reports of several machines, since which program is faster depends on the processor.
    """

    def write(folder: Path) -> str:
        parts: list[str | Table] = []
        for report in read_reports(folder, name):
            table = make_table(report)
            parts += [machine_in_words(report), table] if table.rows else []
        return join(*parts) if parts else NOT_YET

    return write


def from_report(name: str, *parts: Callable[[dict], str | Table]) -> Callable[[Path], str]:
    """A writer of sentences and tables from the report NAME.json in a folder."""

    def write(folder: Path) -> str:
        path = folder / f"{name}.json"
        if not path.is_file():
            return NOT_YET
        report = json.loads(path.read_text(encoding="utf-8"))
        found = [part(report) for part in parts]
        return join(*found) if all(each.rows if isinstance(each, Table) else each for each in found) else NOT_YET

    return write


PARTS: tuple[Part, ...] = (
    Part("README.md", "results", short_results),
    Part("README.md", "equal time", equal_time_short, "both"),
    Part("docs/results/index.md", "headline", leading_headline),
    Part("docs/results/index.md", "protocol", leading_protocol),
    Part("docs/results/index.md", "results", leading_results),
    Part("docs/results/index.md", "pairs", leading_pairs),
    Part("docs/results/index.md", "variants", variants),
    Part("docs/results/index.md", "other protocols", other_protocols),
    Part("docs/results/index.md", "step times", step_times, "benchmarks"),
    Part("docs/results/index.md", "equal time", equal_time, "both"),
    Part("docs/results/depth.md", "fixed and drawn", fixed_and_drawn),
    Part("docs/results/depth.md", "price", price),
    Part("docs/results/depth.md", "reach", reach),
    Part("docs/results/depth.md", "gates", gates),
    Part("docs/results/depth.md", "features", features),
    Part("docs/results/depth.md", "speed", depth_speed, "benchmarks"),
    Part("docs/results/depth.md", "early exit", early_exit, "benchmarks"),
    Part("docs/results/scaling.md", "scaling", scaling),
    Part("docs/results/scaling.md", "loops", loops),
    Part("docs/results/ablations.md", "ablations", ablations),
    Part("docs/results/published.md", "headline", published_headline),
    Part("docs/results/published.md", "results", results_with_published),
    Part("docs/results/published.md", "pairs", published_pairs),
    Part("docs/results/published.md", "timeline", timeline_table),
    Part("docs/results/published.md", "shapes", shape_table),
    Part("docs/results/checkpoints.md", "checkpoints", checkpoints),
    Part("docs/results/checkpoints.md", "depth steps", depth_table),
    Part("docs/results/trials.md", "trials", trials),
    Part("docs/results/trials.md", "dropped", dropped, "both"),
    Part("docs/results/finetuning.md", "fine-tuning", finetuning),
    Part("docs/results/finetuning.md", "depth", finetuned_depths),
    Part("docs/results/speed.md", "training speed", speed_tables("training", training_table), "benchmarks"),
    Part("docs/results/speed.md", "generation speed", speed_tables("generation", generation_table), "benchmarks"),
    Part("docs/results/speed.md", "other depths", speed_tables("generation", other_depths_table), "benchmarks"),
    Part(DYNAMICS_PAGE, "eigenvalues", from_report("dynamics", growth_in_words, growth_table), "benchmarks"),
    Part(DYNAMICS_PAGE, "flow", from_report("dynamics", text_in_words, flow_table), "benchmarks"),
    Part(DYNAMICS_PAGE, "lens", from_report("dynamics", text_in_words, reading_table), "benchmarks"),
    Part(PROMISE_PAGE, "hostile cases", from_report("promise", fuzz_table), "benchmarks"),
    Part(PROMISE_PAGE, "cost of checking", from_report("promise", loading_table), "benchmarks"),
    Part(PROMISE_PAGE, "endings", from_report("promise", endings_table), "benchmarks"),
    Part(PROMISE_PAGE, "crowds", from_report("promise", crowd_in_words, crowd_table), "benchmarks"),
)


def written_parts(records: Records, benchmarks: Path | None = None) -> dict[Part, str]:
    """The text of every part, with its marks; of what needs benchmark reports only if their folder is given."""
    texts = {part: part.text(records, benchmarks) for part in PARTS}
    return {part: between_marks(part.name, text) for part, text in texts.items() if text is not None}


def update_documents(root: Path, records: Records, benchmarks: Path | None = None) -> None:
    """Replace what stands between the marks of README and docs in a project's folder, or nothing at all."""
    _replace(root, written_parts(records, benchmarks))


def update_page(root: Path, file: str, benchmarks: Path) -> None:
    """Replace what benchmark reports say between the marks of one page, or nothing at all."""
    parts = [part for part in PARTS if part.file == file and part.reads == "benchmarks"]
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
    return join(begin, part, end)


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}, written by python -m training report -->", f"<!-- end of {name} -->"
