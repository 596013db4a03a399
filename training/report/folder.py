"""From records to a folder of tables, tests, sentences and figures."""

import dataclasses
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tipshare.files import write_text
from training.report.figures import write_figures
from training.report.tables import to_latex, to_markdown
from training.results.groups import RunGroup, group_records
from training.results.published import FAULTS, SOURCE, PublishedExperiment, published_for
from training.results.records import RunRecord
from training.results.selection import Selection
from training.results.significance import compare_group
from training.results.summaries import CONFIDENCE, LOSS, metrics_of, summarise_group
from training.results.views.comparisons import significance_table
from training.results.views.losses import results_table
from training.results.views.table import Table
from training.results.wording import headline_of, notes_on, significance_in_words

WRITERS: dict[str, Callable[[Table], str]] = {
    "md": lambda table: to_markdown(table) + "\n",
    "tex": to_latex,
    "csv": Table.to_csv,
}


@dataclass(frozen=True)
class Report:
    """What was written, and what was left out and why."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def write_report(records: Iterable[RunRecord], folder: Path) -> Report:
    """Write tables, tests and figures: a summary of everything in `folder`, and a folder in it for every group."""
    everything = group_records(records)
    groups = [each for each in everything if summarise_group(each)]
    if not groups:
        had = sorted({name for each in everything for name in metrics_of(each)})
        raise ValueError(f"no record has the final number {LOSS!r}; the records have {', '.join(had) or 'none'}")
    notes = [f"{each.name}: no run has {LOSS}." for each in everything if each not in groups]
    texts = {
        "statistics_summary.json": _json({"groups": [summary_of(each) for each in groups]}),
        "significance_tests.json": _json({"groups": [comparisons_of(each) for each in groups]}),
    }
    files: list[Path] = []
    sections = []
    for group in groups:
        selection = Selection(group=group)
        for name, table in (("results", results_table(selection)), ("significance", significance_table(selection))):
            texts |= {f"{group.name}/{name}.{suffix}": write(table) for suffix, write in WRITERS.items()}
        figures, missing = write_figures(selection, folder / group.name)
        files += figures
        notes += [f"{group.name}: {each}" for each in missing]
        sections.append(section_of(group, figures, missing))
    texts["report.md"] = "# Results\n\n" + "\n".join(sections)
    for name, text in texts.items():
        write_text(folder / name, text)
    return Report((*(folder / name for name in texts), *files), tuple(notes))


def summary_of(group: RunGroup) -> dict[str, Any]:
    """Every metric of every model of a group over its seeds, ready for JSON."""
    models: dict[str, dict[str, Any]] = {
        label: {"kind": group.kind_of(label), "parameters": runs[0].parameters, "metrics": {}}
        for label, runs in group.runs.items()
    }
    for metric in metrics_of(group):
        for label, summary in summarise_group(group, metric).items():
            models[label]["metrics"][metric] = dataclasses.asdict(summary)
    return {**_identity(group), "confidence": CONFIDENCE, "models": models}


def comparisons_of(group: RunGroup) -> dict[str, Any]:
    """Every pair of models of a group with all tests, in numbers and in words, ready for JSON."""
    pairs = [
        {
            **dataclasses.asdict(each),
            "test": each.test,
            "p_value": each.p_value,
            "is_significant": each.is_significant,
            "words": significance_in_words(each),
        }
        for each in compare_group(group)
    ]
    return {**_identity(group), "metric": LOSS, "correction": "Holm, over all pairs", "comparisons": pairs}


def section_of(group: RunGroup, figures: Iterable[Path] = (), missing: Iterable[str] = ()) -> str:
    """A group's part of the report in Markdown."""
    pairs = compare_group(group)
    experiment = published_for(group.recipe)
    selection = Selection(group=group)
    parts = [
        f"## {group.name}",
        headline_of(group),
        to_markdown(results_table(selection)),
        _list(notes_on(group, source="both")),
        published_notes(experiment) if experiment else "",
        *(["### Do the models differ?", to_markdown(significance_table(selection))] if pairs else []),
        _list(significance_in_words(each) for each in pairs),
        *(f"![{each.stem.replace('_', ' ')}]({group.name}/{each.name})" for each in figures if each.suffix == ".png"),
        _list(missing),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def published_notes(experiment: PublishedExperiment) -> str:
    """What to know about the published rows before comparing them with ours."""
    return f"Published rows are from {SOURCE}. Before comparing:\n\n{_list((*FAULTS, *experiment.caveats))}"


def _identity(group: RunGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "recipe": group.recipe,
        "corpus": group.corpus,
        "num_steps": group.num_steps,
        "tokens_seen": group.tokens_seen,
        "devices": list(group.devices),
    }


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {each}" for each in sentences)


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, sort_keys=True, allow_nan=False) + "\n"
