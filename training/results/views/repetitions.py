"""Published experiments beside their repetition: the longer run's timeline, and models in the published shapes."""

from collections.abc import Sequence

from tipshare.kinds import title_of
from training.results.formatting import count_in_words
from training.results.groups import by_kind
from training.results.published import FIVE_SEEDS, LONGER_RUN
from training.results.records import RunRecord
from training.results.rows import step_memory
from training.results.views.curves import losses_by_step
from training.results.views.table import Column, Table, make_table

PUBLISHED_SHAPE = ", published shape"

# Model, source, parameters, and loss by training step.
Line = tuple[str, str, int | None, dict[float, float]]


def usual_runs(records: Sequence[RunRecord]) -> list[RunRecord]:
    """All runs but those in the published shapes, which have a table of their own."""
    return [each for each in records if not each.model.endswith(PUBLISHED_SHAPE)]


def timeline_table(records: Sequence[RunRecord]) -> Table:
    """Validation loss at every published step of the longer run: ours, then the published ones."""
    ours = by_kind(each for each in records if each.recipe == LONGER_RUN.recipe)
    rows: list[Line] = [
        (title_of(run.model), "measured", run.parameters["total"], losses_by_step(run.curve)) for run in ours
    ]
    rows += [(each.name, "published", each.parameters, losses_by_step(each.curve)) for each in LONGER_RUN.results]
    columns: list[Column[Line]] = [
        Column("model", lambda row: row[0], is_text=True),
        Column("source", lambda row: row[1], is_text=True),
        Column("parameters", lambda row: row[2], count_in_words),
        *(
            Column(f"step {step:,}", lambda row, step=step: row[3].get(step), ".3f")
            for step, _ in LONGER_RUN.results[0].curve
        ),
    ]
    return make_table(columns, rows)


def shape_table(records: Sequence[RunRecord]) -> Table:
    """Kinds in the shape that was published for them beside the shape we recommend: size, loss, step and memory.

    Runs of fewer training steps tell what a step takes, and no loss.
    """
    short = FIVE_SEEDS.recipe
    rows = []
    for run in by_kind(each for each in records if each.recipe.startswith(short) and each not in usual_runs([each])):
        usual = [each for each in records if (each.recipe, each.model, each.seed) == (short, run.kind, run.seed)]
        rows += [run, *usual]
    columns: list[Column[RunRecord]] = [
        Column("model", lambda run: run.model, title_of, is_text=True),
        Column("parameters", lambda run: run.parameters["total"], ","),
        Column("loss after 1,000 steps", lambda run: run.final["valid_loss"] if run.recipe == short else None, ".3f"),
        Column("ms/step", lambda run: run.speed["step_ms"], ",.0f"),
        Column("memory of a step (MB)", step_memory, ",.0f"),
        Column("device", lambda run: run.machine["device"], heading="on", is_text=True),
    ]
    return make_table(columns, rows)
