"""Models trained at drawn numbers of depth steps beside the same models trained at their own number alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tipshare.config import ModelConfig
from tipshare.kinds import title_of
from training.results.formatting import show_interval, show_mean
from training.results.groups import group_records
from training.results.records import RunRecord
from training.results.significance import Comparison, compare
from training.results.summaries import LOSS, Summary, losses_by_depth, summarise
from training.results.views.depths import BY_DEPTH
from training.results.views.figure import FigureView, Mark, cut_off, of_summary
from training.results.views.pairs import corrected, pair_columns
from training.results.views.table import Column, Table

# The recipes, which differ in nothing but the depths they train at, and the ablation of what the gates read.
FIXED, ELASTIC, FEATURES = "tuned-1000", "elastic-1000", "ablation-features"
SHOWN_DEPTHS = (2, 3, 4, 6, 8, 12, 18)
# Where gates are compared with plain sharing, and what the labels of models without gates end in.
COMPARED_DEPTHS = (3, 6, 12)
TIED = ", tied"
# Where features are compared: at the own number, and far from it.
FAR_DEPTHS = (3, 6, 12, 18)
USUAL_FEATURES = "time-indexed-ssm"

# By model and number of depth steps.
Pairs = dict[tuple[str, int], Comparison]


@dataclass(frozen=True)
class DepthLosses:
    """The losses of one model at every number of depth steps that all of its runs were read with.

    Attributes:
        run: One of the runs.
        at: By depth steps, over the seeds.
    """

    run: RunRecord
    num_seeds: int
    at: Mapping[int, Summary]

    @property
    def own(self) -> int:
        """The number of depth steps of the model's config."""
        return own_steps(self.run)

    @property
    def trained(self) -> Sequence[int]:
        """The numbers of depth steps of its training."""
        return self.run.settings.get("depth_steps") or [self.own]


def losses_at_depths(records: Sequence[RunRecord], recipe: str) -> dict[str, DepthLosses]:
    """By label: the models of a recipe that were read with several numbers of depth steps."""
    found: dict[str, DepthLosses] = {}
    for group in (each for each in group_records(records) if each.name == recipe):
        for label, runs in group.runs.items():
            # Runs that another recipe made may have been read at their own number of depth steps alone.
            read = {run.seed: losses for run in runs if len(losses := _losses_of(run)) > 1}
            common = sorted(set.intersection(*map(set, read.values()))) if read else []
            if len(common) > 1:
                at = {steps: summarise([each[steps] for each in read.values()], list(read)) for steps in common}
                found[label] = DepthLosses(runs[0], len(read), at)
    return found


def _losses_of(run: RunRecord) -> dict[int, float]:
    """By depth steps; the last evaluation of the run itself was at the model's own number."""
    own = {own_steps(run): run.final[LOSS]} if LOSS in run.final else {}
    return own | losses_by_depth(run.final)


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
    """Loss by depth steps of every model of both recipes, the two of a model below each other."""
    found = [losses_at_depths(records, recipe) for recipe in (FIXED, ELASTIC)]
    rows: list[dict[str, Any]] = []
    for label in dict.fromkeys(label for losses in found for label in losses):
        for losses in (each[label] for each in found if label in each):
            at = {f"at {steps}": loss for steps, loss in losses.at.items()}
            rows.append({"model": label, "trained": depths_in_words(losses.run), "seeds": losses.num_seeds, **at})
    columns = [
        Column("model", "model", title_of, is_text=True),
        Column("trained", "trained at depth steps", is_text=True),
        Column("seeds", "seeds"),
        *(Column(f"at {steps}", f"loss at {steps}", show_mean) for steps in SHOWN_DEPTHS if _has(rows, steps)),
    ]
    return Table(rows, columns)


def _has(rows: Sequence[Mapping[str, Any]], steps: int) -> bool:
    return any(f"at {steps}" in row for row in rows)


def prices(records: Sequence[RunRecord]) -> Pairs:
    """What drawn depths cost at the model's own number of depth steps, by seed."""
    fixed, elastic = (losses_at_depths(records, recipe) for recipe in (FIXED, ELASTIC))
    return corrected(
        {
            (label, losses.own): _compare(losses, fixed[label], losses.own)
            for label, losses in elastic.items()
            if label in fixed and losses.own in losses.at.keys() & fixed[label].at.keys()
        }
    )


def gains_of_gates(records: Sequence[RunRecord]) -> Pairs:
    """Gates on t against plain sharing at several depths, both trained at drawn depths, by seed."""
    losses = losses_at_depths(records, ELASTIC)
    return corrected(
        {
            (label, steps): _compare(losses[label], losses[label + TIED], steps)
            for label in losses
            for steps in COMPARED_DEPTHS
            if label + TIED in losses and steps in losses[label].at.keys() & losses[label + TIED].at.keys()
        }
    )


def prices_of_features(records: Sequence[RunRecord]) -> Pairs:
    """Other features of t, and none of dt, against the usual ones, all trained at drawn depths, by seed."""
    losses = losses_at_depths(records, FEATURES)
    usual = losses.pop(USUAL_FEATURES, None)
    return corrected(
        {
            (label, steps): _compare(each, usual, steps)
            for label, each in losses.items()
            for steps in FAR_DEPTHS
            if usual and steps in each.at.keys() & usual.at.keys()
        }
    )


def reach_table(records: Sequence[RunRecord]) -> Table:
    """How far a model trained at drawn depths is from itself at its own number of depth steps."""
    rows: list[dict[str, Any]] = []
    for label, losses in losses_at_depths(records, ELASTIC).items():
        if losses.own in losses.at:
            apart = {f"at {steps}": _apart(losses, steps) for steps in losses.at if steps != losses.own}
            rows.append({"model": label, "own": losses.own, **apart})
    columns = [Column("model", "model", title_of, is_text=True), Column("own", "own depth steps")]
    columns += [Column(f"at {each}", f"at {each}", _show_difference) for each in SHOWN_DEPTHS if _has(rows, each)]
    return Table(rows, columns)


def pairs_table(pairs: Pairs, heading: str) -> Table:
    """Differences by seed with their tests, corrected over the rows of the table."""
    rows = [{"model": label, "steps": steps, "pair": pair} for (label, steps), pair in pairs.items()]
    columns = [
        Column("model", "model", title_of, is_text=True),
        Column("steps", "depth steps"),
        *pair_columns(f"{heading} (nats/byte)"),
    ]
    return Table(rows, columns)


def _apart(losses: DepthLosses, steps: int) -> Comparison:
    return compare("there", "own", {"there": losses.at[steps], "own": losses.at[losses.own]})


def _compare(first: DepthLosses, second: DepthLosses, steps: int) -> Comparison:
    return compare("first", "second", {"first": first.at[steps], "second": second.at[steps]})


def _show_difference(pair: Comparison) -> str:
    return f"{pair.difference:+.3f}" + (f" ({show_interval(pair.interval)})" if pair.interval else "")


def elastic_view(records: Sequence[RunRecord]) -> FigureView[Mark]:
    """Loss against depth steps: solid lines for drawn depths, broken ones for a single depth."""
    marks = []
    for recipe in (ELASTIC, FIXED):
        for label, losses in losses_at_depths(records, recipe).items():
            run, is_drawn = losses.run, recipe == ELASTIC
            # A model without gates has the colour of the kind it is a variant of, and other lines.
            line = (0 if is_drawn else 1) + (0 if label == run.kind else 2)
            trained = "drawn depths" if is_drawn else f"{losses.own} depth steps"
            marks += [
                Mark(
                    label=label,
                    title=f"{title_of(label)}, trained at {trained}",
                    kind=run.kind,
                    at=steps,
                    **of_summary(loss),
                    size="large" if steps == losses.own else "usual",
                    line=line,
                )
                for steps, loss in losses.at.items()
            ]
    return FigureView(
        name="elastic_depth",
        title="Loss against depth steps",
        form="plane",
        runs=f"{FIXED} and {ELASTIC}",
        points=marks,
        csv=BY_DEPTH,
        x_label="depth steps (larger mark: the model's own)",
        **cut_off(marks, (mark.value for mark in marks if mark.size == "large")),
        missing="" if marks else f"no run of {FIXED} or {ELASTIC} was read at several depths",
    )
