"""Published experiments beside their repetition: the longer run's timeline, and models in the published shapes."""

from collections.abc import Sequence

from tipshare.kinds import title_of
from training.report.markdown import markdown_table
from training.report.tables import NOTHING, count_in_words
from training.results.groups import by_kind
from training.results.published import LONGER_RUN
from training.results.records import RunRecord
from training.results.rows import step_memory

SHORT_RUN = "published-1000"
PUBLISHED_SHAPE = ", published shape"


def usual_runs(records: Sequence[RunRecord]) -> list[RunRecord]:
    """All runs but those in the published shapes, which have a table of their own."""
    return [each for each in records if not each.model.endswith(PUBLISHED_SHAPE)]


def timeline_table(records: Sequence[RunRecord]) -> str:
    """Validation loss at every mark of the longer run: ours, then the published ones."""
    marks = [step for step, _ in LONGER_RUN.results[0].curve]
    rows: list[tuple[str, str, int | None, dict[int, float]]] = []
    for run in by_kind([each for each in records if each.recipe == LONGER_RUN.recipe]):
        rows.append(
            (title_of(run.model), "measured", run.parameters["total"], {int(step): loss for step, loss in run.curve})
        )
    for result in LONGER_RUN.results:
        rows.append((result.name, "published", result.parameters, dict(result.curve)))
    cells = [
        (name, source, count_in_words(size) if size else NOTHING, *(_loss(curve.get(step)) for step in marks))
        for name, source, size, curve in rows
    ]
    heads = ("model", "source", "parameters", *(f"step {step:,}" for step in marks))
    return markdown_table(heads, cells, is_number=(False, False, *(True for _ in heads[2:])))


def shape_table(records: Sequence[RunRecord]) -> str:
    """Kinds in the shape that was published for them beside the shape we recommend: size, loss, step and memory.

    Runs of fewer steps tell what a step takes, and no loss.
    """
    shaped = [each for each in records if each.recipe.startswith(SHORT_RUN) and each.model.endswith(PUBLISHED_SHAPE)]
    rows = []
    for run in by_kind(shaped):
        usual = [each for each in records if (each.recipe, each.model, each.seed) == (SHORT_RUN, run.kind, run.seed)]
        for each in (run, *usual):
            rows.append(
                (
                    title_of(each.model),
                    f"{each.parameters['total']:,}",
                    _loss(each.final["valid_loss"]) if each.recipe == SHORT_RUN else NOTHING,
                    f"{each.speed['step_ms']:,.0f}",
                    NOTHING if (memory := step_memory(each)) is None else f"{memory:,.0f}",
                    each.machine["device"],
                )
            )
    heads = ("model", "parameters", "loss after 1,000 steps", "ms/step", "memory of a step (MB)", "on")
    return markdown_table(heads, rows, is_number=(False, True, True, True, True, False))


def _loss(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
