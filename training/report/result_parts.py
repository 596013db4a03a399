"""What README and docs say of the protocols: the leading one first, the published one on a page of its own."""

from dataclasses import replace
from pathlib import Path

from training.recipes.library import find_recipe
from training.recipes.recipe import NOT_MEASURED
from training.report.parts import NOT_YET, Records, join, read_reports
from training.report.readme_figures import picture
from training.report.tables import to_markdown
from training.results.groups import RunGroup, choose_group, group_records
from training.results.leading import PUBLISHED, kinds_alone, leading_group
from training.results.naming import in_sections, title_of_group
from training.results.selection import Selection
from training.results.trials import FILE_NAME, read_trials
from training.results.views.ablations import ablation_cells, ablation_table, question_table
from training.results.views.comparisons import significance_table
from training.results.views.document_tables import machine_in_words, showcase_in_words, showcase_table, usual_runs
from training.results.views.elastic_words import reach_in_words
from training.results.views.equal_time import (
    curve_pairs,
    equal_time_in_words,
    equal_time_table,
    finished_pairs,
    step_times_in_words,
    step_times_table,
)
from training.results.views.losses import results_table
from training.results.views.table import Table
from training.results.views.trials import dropped_table, trials_table
from training.results.views.tuned import SHARED, protocol_in_words, settings_table, variants_table
from training.results.wording import headline_of

STEPS = "steps"
OTHERS = ("tuned-3000", "shakespeare-cpu", "shakespeare-cpu-tuned")


def short_results(records: Records) -> str:
    """What the leading protocol found and how, its measured rows, how far one model reaches in depth, and what the
    bundled checkpoints reach."""
    how = protocol_in_words(leading_group(usual_runs(records)))
    bundled = (
        f"The [bundled checkpoints](docs/results/checkpoints.md) were trained for longer. {showcase_in_words(records)}"
    )
    return join(leading_headline(records), leading_results(records), how, reach_in_words(records, only=SHARED), bundled)


def leading_headline(records: Records) -> str:
    """One sentence on the kinds by their own names, so that the correction is over their pairs alone."""
    return headline_of(kinds_alone(leading_group(usual_runs(records))))


def leading_results(records: Records) -> Table:
    """The measured rows of the leading protocol."""
    return _measured(leading_group(usual_runs(records)))


def _measured(group: RunGroup) -> Table:
    """The measured rows; their step times, of machines that did other work too, are left to the benchmarks."""
    table = results_table(Selection(group=group, source="measured"))
    return replace(table, columns=[each for each in table.columns if each.path != "step_ms"])


def other_protocols(records: Records) -> str:
    """Longer runs and another text: what each is, what to expect of it, and its rows."""
    parts: list[str | Table] = []
    for group in in_sections(each for each in group_records(usual_runs(records)) if each.recipe in OTHERS):
        expected = find_recipe(group.recipe).expected
        known = "" if expected == NOT_MEASURED else f"For comparison: {expected}."
        parts += [f"### {title_of_group(group)}", protocol_in_words(group), known, _measured(group)]
    return join(*parts) or NOT_YET


def leading_protocol(records: Records) -> str:
    """What the runs have in common, and the settings of each model."""
    group = leading_group(usual_runs(records))
    return join(protocol_in_words(group), settings_table(group))


def leading_pairs(records: Records) -> Table:
    """Every pair of kinds with its tests."""
    return significance_table(Selection(group=kinds_alone(leading_group(usual_runs(records)))))


def variants(records: Records) -> str:
    """What sharing, gates and size each do, under the leading protocol."""
    table = variants_table(leading_group(usual_runs(records)))
    return join(table) if table.rows else NOT_YET


def published_headline(records: Records) -> str:
    """One sentence on the published protocol."""
    return headline_of(_published(records))


def results_with_published(records: Records) -> Table:
    """The measured rows of the published protocol, and the published ones below them."""
    return results_table(Selection(group=_published(records)))


def published_pairs(records: Records) -> Table:
    """Every pair of models of the published protocol with its tests."""
    return significance_table(Selection(group=_published(records)))


def _published(records: Records) -> RunGroup:
    return choose_group(usual_runs(records), recipe=PUBLISHED)


def ablations(records: Records) -> str:
    """Where weights come from, and what each source adds to the loss."""
    cells = ablation_cells(records)
    return join(ablation_table(cells), question_table(cells)) if cells else NOT_YET


def checkpoints(records: Records) -> str:
    """The losses of the bundled checkpoints."""
    return join(showcase_in_words(records), showcase_table(records))


def trials(records: Records) -> str:
    """Runs with fields of the tuned protocols changed."""
    table = trials_table(records)
    return join(table) if table.rows else NOT_YET


def dropped(records: Records, folder: Path) -> str:
    """Changes that the code no longer has, with what they gave."""
    table = dropped_table(records, read_trials(folder / FILE_NAME))
    return join(table) if table.rows else NOT_YET


def step_times(folder: Path) -> str:
    """Step times of the tuned protocol, a table for every machine."""
    reports = read_reports(folder, STEPS)
    return join(*(part(report) for report in reports for part in (machine_in_words, step_times_table))) or NOT_YET


def equal_time(records: Records, folder: Path) -> str:
    """Models against the plain transformer after the same training time."""
    parts: list[str] = []
    for report in read_reports(folder, STEPS):
        finished, read = finished_pairs(records, report), curve_pairs(records, report)
        if finished:
            parts += ["Runs whose schedules ended after the same time:", to_markdown(equal_time_table(finished))]
        if read:
            parts += [
                "Curves of the runs of equal length, read when the first of the two has finished. The learning rate of "
                "the other has not decayed yet, so this favours the one whose steps are shorter:",
                to_markdown(equal_time_table(read)),
            ]
    return join(picture("training-time.png", records, folder), *parts) if parts else NOT_YET


def equal_time_short(records: Records, folder: Path) -> str:
    """Runs of equal time for the README; until they are finished, what a step takes, and nothing before that."""
    reports = read_reports(folder, STEPS)
    if not reports:
        return ""
    return equal_time_in_words(finished_pairs(records, reports[0]), SHARED) or step_times_in_words(reports[0], SHARED)
