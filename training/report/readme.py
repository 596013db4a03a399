"""The numbers in README and docs: written from records and benchmarks, between marks, and checked by a test."""

import re
from collections.abc import Sequence
from pathlib import Path

from tipshare.files import write_text
from training.report.parts import Write, from_both, from_group, from_records, from_reports, join, pictured
from training.report.readme_figures import Records
from training.report.result_parts import (
    ablations,
    dropped,
    equal_time,
    equal_time_short,
    finetuned_depths,
    finetuning,
    headline_of_kinds,
    measured_table,
    other_protocols,
    short_results,
)
from training.results.groups import RunGroup
from training.results.leading import kinds_alone, leading_group, published_group
from training.results.selection import Selection
from training.results.views import (
    depth_reports,
    document_tables,
    dynamics_tables,
    elastic,
    elastic_words,
    promise_tables,
)
from training.results.views.comparisons import significance_table
from training.results.views.document_tables import machine_in_words
from training.results.views.equal_time import step_times_table
from training.results.views.loops import loops_table, own_blocks_table
from training.results.views.losses import results_table
from training.results.views.scaling import scaling_group, scaling_table
from training.results.views.table import Table
from training.results.views.trials import trials_table
from training.results.views.tuned import protocol_in_words, settings_table, variants_table
from training.results.wording import headline_of

DYNAMICS_PAGE = "docs/results/dynamics.md"


def _pairs_of_kinds(group: RunGroup) -> Table:
    """Every pair of kinds by their own names with its tests."""
    return significance_table(Selection(group=kinds_alone(group)))


# The written parts of every document, seen from the project's folder, by the names that their marks give them.
PAGES: dict[str, dict[str, Write]] = {
    "README.md": {"results": from_records(short_results), "equal time": from_both(equal_time_short)},
    "docs/results/index.md": {
        "headline": from_group(leading_group, headline_of_kinds),
        "protocol": from_group(leading_group, protocol_in_words, settings_table),
        "results": from_group(leading_group, measured_table),
        "pairs": from_group(leading_group, _pairs_of_kinds),
        "variants": from_group(leading_group, variants_table),
        "other protocols": from_records(other_protocols),
        "step times": from_reports("steps", machine_in_words, step_times_table),
        "equal time": pictured("training-time.png", from_both(equal_time)),
    },
    "docs/results/depth.md": {
        "fixed and drawn": pictured("elastic.png", from_records(elastic.elastic_table)),
        "price": from_records(elastic_words.price_in_words, elastic.price_table),
        "reach": from_records(elastic_words.reach_in_words, elastic.reach_table),
        "gates": from_records(elastic_words.gates_in_words, elastic.gates_table),
        "features": from_records(elastic.features_table),
        "speed": pictured(
            "depth-speed.png", from_reports("depth-", depth_reports.report_in_words, depth_reports.depths_table)
        ),
        "early exit": from_reports("depth-", depth_reports.early_exit_in_words, depth_reports.early_exit_table),
    },
    "docs/results/scaling.md": {
        "scaling": pictured("scaling.png", pictured("scaling-flops.png", from_group(scaling_group, scaling_table))),
        "loops": from_records(loops_table, own_blocks_table),
    },
    "docs/results/ablations.md": {"ablations": from_records(ablations)},
    "docs/results/published.md": {
        "headline": from_group(published_group, headline_of),
        "results": from_group(published_group, lambda group: results_table(Selection(group=group))),
        "pairs": from_group(published_group, lambda group: significance_table(Selection(group=group))),
        "timeline": from_records(document_tables.timeline_table),
        "shapes": from_records(document_tables.shape_table),
    },
    "docs/results/checkpoints.md": {
        "checkpoints": from_records(document_tables.showcase_in_words, document_tables.showcase_table),
        "depth steps": from_records(document_tables.depth_table),
    },
    "docs/results/trials.md": {"trials": from_records(trials_table), "dropped": from_both(dropped)},
    "docs/results/finetuning.md": {
        "fine-tuning": from_records(finetuning),
        "depth": from_records(finetuned_depths),
    },
    "docs/results/speed.md": {
        "training speed": from_reports("training", machine_in_words, document_tables.training_table),
        "generation speed": from_reports("generation", machine_in_words, document_tables.generation_table),
        "other depths": from_reports("generation", machine_in_words, document_tables.other_depths_table),
    },
    DYNAMICS_PAGE: {
        "eigenvalues": from_reports("dynamics", dynamics_tables.growth_in_words, dynamics_tables.growth_table),
        "flow": from_reports("dynamics", dynamics_tables.text_in_words, dynamics_tables.flow_table),
        "lens": from_reports("dynamics", dynamics_tables.text_in_words, dynamics_tables.reading_table),
    },
    "docs/guide/promise.md": {
        "hostile cases": from_reports("promise", promise_tables.fuzz_table),
        "cost of checking": from_reports("promise", promise_tables.loading_table),
        "endings": from_reports("promise", promise_tables.endings_table),
        "crowds": from_reports("promise", promise_tables.crowd_in_words, promise_tables.crowd_table),
    },
}


def written_parts(
    records: Records, benchmarks: Path | None = None, pages: Sequence[str] = tuple(PAGES)
) -> dict[tuple[str, str], str]:
    """By document and name: the text of every part, with its marks; without benchmark reports, of what needs none."""
    writers = {(file, name): write for file in pages for name, write in PAGES[file].items()}
    texts = {place: write(records, benchmarks) for place, write in writers.items()}
    return {place: between_marks(place[1], text) for place, text in texts.items() if text is not None}


def update_documents(
    root: Path, records: Records, benchmarks: Path | None = None, pages: Sequence[str] = tuple(PAGES)
) -> None:
    """Replace what stands between the marks of README and docs in a project's folder, or nothing at all."""
    documents: dict[Path, str] = {}
    for (file, name), written in written_parts(records, benchmarks, pages).items():
        path = root / file
        if path not in documents and not path.is_file():
            raise ValueError(f"there is no {path}, for the {name} to go in: give the README of a checkout")
        text = documents.get(path) or path.read_text(encoding="utf-8")
        begin, end = _marks(name)
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"{path} must hold one part from {begin!r} to {end!r}, for the {name} to go in")
        documents[path] = pattern.sub(lambda _, written=written: written, text)
    for path, text in documents.items():
        write_text(path, text)


def between_marks(name: str, text: str) -> str:
    """A part of a document with the marks by which it is found again."""
    begin, end = _marks(name)
    return join(begin, text, end)


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}, written by python -m training report -->", f"<!-- end of {name} -->"
