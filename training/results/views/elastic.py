"""Models trained at drawn numbers of depth steps beside the same models trained at their own number alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tipshare.config import ModelConfig
from tipshare.kinds import title_of
from training.results.formatting import show_interval, show_mean, show_p
from training.results.groups import group_records
from training.results.records import RunRecord
from training.results.significance import Comparison, compare, holm
from training.results.summaries import LOSS, Summary, summarise
from training.results.views.depths import AT_STEPS
from training.results.views.figure import FigureView, Mark, loss_label
from training.results.views.table import Column, Table

# The recipes, which differ in nothing but the depths they train at.
FIXED, ELASTIC = "tuned-1000", "elastic-1000"
# Where gates are compared with plain sharing, and what the labels of models without gates end in.
COMPARED_DEPTHS = (3, 6, 12)
TIED = ", tied"

# By model: the loss of every seed, by depth steps.
Losses = dict[str, dict[int, Summary]]


def losses_at_depths(records: Sequence[RunRecord], recipe: str) -> Losses:
    """The losses of all models of a recipe, at every number of depth steps that they were read with."""
    found: Losses = {}
    for group in (each for each in group_records(records) if each.name == recipe):
        for label, runs in group.runs.items():
            at_depths = [_losses_of(run) for run in runs]
            found[label] = {
                steps: summarise(
                    [each[steps] for each in at_depths if steps in each],
                    [run.seed for run, each in zip(runs, at_depths, strict=True) if steps in each],
                )
                for steps in sorted({steps for each in at_depths for steps in each})
            }
    return found


def _losses_of(run: RunRecord) -> dict[int, float]:
    """By depth steps; the last evaluation of the run itself was at the model's own number."""
    at_depths = {int(match[1]): loss for name, loss in run.final.items() if (match := AT_STEPS.match(name))}
    return {own_steps(run): run.final[LOSS]} | at_depths if LOSS in run.final else at_depths


def own_steps(run: RunRecord) -> int:
    """The number of depth steps of the model's config."""
    return ModelConfig.from_dict(run.config).steps


def depths_in_words(run: RunRecord) -> str:
    """The depth steps that a run was trained at, and how they were drawn."""
    drawn, weights = run.settings.get("depth_steps", []), run.settings.get("depth_weights", [])
    if not drawn:
        return str(own_steps(run))
    shares = [f" ({weight / sum(weights):.0%})" for weight in weights] or [""] * len(drawn)
    words = " ".join(f"{steps}{share}" for steps, share in zip(drawn, shares, strict=True))
    if run.settings.get("depth_growth"):
        words += f", growing over {run.settings['depth_growth']:.0%} of the training steps"
    if run.settings.get("consistency"):
        words += f", consistency {run.settings['consistency']:g}"
    return words


def elastic_table(records: Sequence[RunRecord]) -> Table:
    """Loss by depth steps of every model of both recipes."""
    rows: list[dict[str, Any]] = []
    for group in (each for name in (FIXED, ELASTIC) for each in group_records(records) if each.name == name):
        losses = losses_at_depths(records, group.name)
        for label, runs in group.runs.items():
            at_depths = {f"at {steps}": loss for steps, loss in losses[label].items()}
            rows.append({"model": label, "trained": depths_in_words(runs[0]), "seeds": len(runs), **at_depths})
    depths = sorted({int(name[3:]) for row in rows for name in row if name.startswith("at ")})
    order = {row["model"]: place for place, row in reversed(list(enumerate(rows)))}
    rows.sort(key=lambda row: order[row["model"]])
    columns = [
        Column("model", "model", title_of, is_text=True),
        Column("trained", "trained at depth steps", is_text=True),
        Column("seeds", "seeds"),
        *(Column(f"at {steps}", f"loss at {steps}", show_mean) for steps in depths),
    ]
    return Table(rows, columns)


def price_table(records: Sequence[RunRecord]) -> Table:
    """What drawn depths cost at the model's own number of depth steps, by seed."""
    fixed, elastic = (losses_at_depths(records, recipe) for recipe in (FIXED, ELASTIC))
    steps_of = {run.model: own_steps(run) for run in records}
    pairs = {
        (label, steps): _compare(elastic[label], fixed[label], steps)
        for label in elastic
        if label in fixed and (steps := steps_of[label]) in elastic[label].keys() & fixed[label].keys()
    }
    return _pairs_table(pairs, "drawn depths minus one depth")


def reach_table(records: Sequence[RunRecord]) -> Table:
    """How far a model trained at drawn depths is from itself at its own number of depth steps."""
    steps_of = {run.model: own_steps(run) for run in records}
    rows: list[dict[str, Any]] = []
    for label, losses in losses_at_depths(records, ELASTIC).items():
        own = steps_of[label]
        apart = {f"at {steps}": _apart(losses, steps, own) for steps in losses if own in losses and steps != own}
        rows.append({"model": label, "own": own, **apart})
    depths = sorted({int(name[3:]) for row in rows for name in row if name.startswith("at ")})
    columns = [Column("model", "model", title_of, is_text=True), Column("own", "own depth steps")]
    return Table(rows, [*columns, *(Column(f"at {steps}", f"at {steps}", _show_difference) for steps in depths)])


def gates_table(records: Sequence[RunRecord]) -> Table:
    """Gates on t against plain sharing at several depths, both trained at drawn depths."""
    losses = losses_at_depths(records, ELASTIC)
    pairs = {
        (label, steps): _compare(losses[label], losses[label + TIED], steps)
        for label in losses
        for steps in COMPARED_DEPTHS
        if label + TIED in losses and steps in losses[label].keys() & losses[label + TIED].keys()
    }
    return _pairs_table(pairs, "gated minus tied")


def _apart(losses: dict[int, Summary], steps: int, own: int) -> Comparison:
    return compare("there", "own", {"there": losses[steps], "own": losses[own]})


def _compare(first: dict[int, Summary], second: dict[int, Summary], steps: int) -> Comparison:
    return compare("first", "second", {"first": first[steps], "second": second[steps]})


def _show_difference(pair: Comparison) -> str:
    return f"{pair.difference:+.3f}" + (f" ({show_interval(pair.interval)})" if pair.interval else "")


def _pairs_table(pairs: dict[tuple[str, int], Comparison], heading: str) -> Table:
    """Differences by seed with their tests, corrected over the rows of the table."""
    corrected = holm([pair.p_value for pair in pairs.values()])
    rows = [
        {"model": label, "steps": steps, "pair": replace(pair, p_holm=p)}
        for ((label, steps), pair), p in zip(pairs.items(), corrected, strict=True)
    ]
    columns = [
        Column("model", "model", title_of, is_text=True),
        Column("steps", "depth steps"),
        Column("pair.difference", f"{heading} (nats/byte)", "+.3f"),
        Column("pair.interval", "95 % interval", show_interval),
        Column("pair.num_seeds", "seeds"),
        Column("pair.p_value", "p", show_p),
        Column("pair.p_holm", "p, corrected", show_p),
    ]
    return Table(rows, columns)


def elastic_view(records: Sequence[RunRecord]) -> FigureView[Mark]:
    """Loss against depth steps: solid lines for drawn depths, broken ones for a single depth."""
    marks = []
    for group in (each for name in (ELASTIC, FIXED) for each in group_records(records) if each.name == name):
        for label, losses in losses_at_depths(records, group.name).items():
            if len(losses) < 2:
                continue
            run, is_drawn = group.runs[label][0], group.name == ELASTIC
            # A model without gates has the colour of the kind it is a variant of, and other lines.
            line = (0 if is_drawn else 1) + (0 if label == run.kind else 2)
            trained = "drawn depths" if is_drawn else f"{own_steps(run)} depth steps"
            marks += [
                Mark(
                    label=label,
                    title=f"{title_of(label)}, trained at {trained}",
                    kind=run.kind,
                    at=steps,
                    value=loss.mean,
                    low=loss.low,
                    high=loss.high,
                    num_seeds=loss.num_seeds,
                    text=show_mean(loss),
                    size="large" if steps == own_steps(run) else "usual",
                    line=line,
                )
                for steps, loss in losses.items()
            ]
    return FigureView(
        name="elastic_depth",
        title="Loss against depth steps",
        form="plane",
        runs=f"{FIXED} and {ELASTIC}",
        points=marks,
        csv={
            "model": "title",
            "depth_steps": "at",
            "loss": "value",
            "low": "low",
            "high": "high",
            "seeds": "num_seeds",
        },
        x_label="depth steps (larger mark: the model's own)",
        y_label=loss_label(LOSS),
        missing="" if marks else f"no run of {FIXED} or {ELASTIC} was read at several depths",
    )
