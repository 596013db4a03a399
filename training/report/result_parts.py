"""What README and docs say that takes more than a list of views."""

from dataclasses import replace
from pathlib import Path

from training.recipes.library import find_recipe
from training.recipes.recipe import NOT_MEASURED
from training.report.parts import NOT_YET, join, tell
from training.report.readme_figures import FINETUNING, Records, picture, read_reports
from training.results.groups import RunGroup, group_records
from training.results.leading import kinds_alone, leading_group, usual_runs
from training.results.naming import before_and_after, in_sections, title_of_group
from training.results.selection import Selection
from training.results.trials import FILE_NAME, read_trials
from training.results.views.ablations import ablation_cells, ablation_table, question_table
from training.results.views.document_tables import showcase_in_words
from training.results.views.elastic_words import reach_in_words
from training.results.views.equal_time import (
    curve_pairs,
    equal_time_in_words,
    equal_time_table,
    finished_pairs,
    step_times_in_words,
)
from training.results.views.finetuning import depth_in_words, gains_in_words, is_same_text, tuned_groups, tuned_table
from training.results.views.losses import results_table
from training.results.views.table import Table
from training.results.views.trials import dropped_table
from training.results.views.tuned import SHARED, protocol_in_words
from training.results.wording import headline_of

OTHERS = ("tuned-3000", "shakespeare-cpu", "shakespeare-cpu-tuned")


def short_results(records: Records) -> str:
    """What the leading protocol found and how, its measured rows, how far one model reaches in depth, and what the
    bundled checkpoints reach."""
    group = leading_group(records)
    bundled = (
        f"The [bundled checkpoints](docs/results/checkpoints.md) were trained for longer. {showcase_in_words(records)}"
    )
    reach = reach_in_words(records, only=SHARED)
    return join(headline_of_kinds(group), measured_table(group), protocol_in_words(group), reach, bundled)


def headline_of_kinds(group: RunGroup) -> str:
    """One sentence on the kinds by their own names, so that the correction is over their pairs alone."""
    return headline_of(kinds_alone(group))


def measured_table(group: RunGroup) -> Table:
    """The measured rows; their step times, of machines that did other work too, are left to the benchmarks."""
    table = results_table(Selection(group=group, source="measured"))
    return replace(table, columns=[each for each in table.columns if each.path != "step_ms"])


def other_protocols(records: Records) -> str:
    """Longer runs and another text: what each is, what to expect of it, and its rows."""
    parts: list[str | Table] = []
    for group in in_sections(each for each in group_records(usual_runs(records)) if each.recipe in OTHERS):
        expected = find_recipe(group.recipe).expected
        known = "" if expected == NOT_MEASURED else f"For comparison: {expected}."
        parts += [f"### {title_of_group(group)}", protocol_in_words(group), known, measured_table(group)]
    return join(*parts) or NOT_YET


def ablations(records: Records) -> str:
    """Where weights come from, and what each source adds to the loss."""
    cells = ablation_cells(records)
    return tell(ablation_table(cells), question_table(cells))


def dropped(records: Records, folder: Path) -> str:
    """Changes that the code no longer has, with what they gave."""
    return tell(dropped_table(records, read_trials(folder / FILE_NAME)))


def equal_time(records: Records, folder: Path) -> str:
    """Models against the plain transformer after the same training time."""
    parts: list[str | Table] = []
    for report in read_reports(folder, "steps"):
        finished, read = finished_pairs(records, report), curve_pairs(records, report)
        if finished:
            parts += ["Runs whose schedules ended after the same time:", equal_time_table(finished)]
        if read:
            parts += [
                "Curves of the runs of equal length, read when the first of the two has finished. The learning rate of "
                "the other has not decayed yet, so this favours the one whose steps are shorter:",
                equal_time_table(read),
            ]
    return join(*parts) or NOT_YET


def equal_time_short(records: Records, folder: Path) -> str:
    """Runs of equal time for the README; until they are finished, what a step takes, and nothing before that."""
    reports = read_reports(folder, "steps")
    if not reports:
        return ""
    return equal_time_in_words(finished_pairs(records, reports[0]), SHARED) or step_times_in_words(reports[0], SHARED)


def finetuning(records: Records) -> str:
    """From one text to another: the figure, and a table of every method."""
    parts: list[str | Table] = []
    for group, models in tuned_groups(records):
        if models and not is_same_text(group):
            parts.append(picture("finetuning.png", records) if group.recipe == FINETUNING else "")
            parts += [f"### {before_and_after(group)}", gains_in_words(models), tuned_table(models)]
    return join(*parts) or NOT_YET


def finetuned_depths(records: Records) -> str:
    """Another number of depth steps on the same text."""
    parts: list[str | Table] = []
    for group, models in tuned_groups(records):
        if models and is_same_text(group):
            parts += [depth_in_words(models), tuned_table(models)]
    return join(*parts) or NOT_YET
