"""Models trained at drawn numbers of depth steps beside the same models trained at their own number alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tipshare.config import ModelConfig
from tipshare.kinds import title_of
from training.results.formatting import show_interval, show_mean
from training.results.groups import find_group
from training.results.records import RunRecord
from training.results.significance import Comparison
from training.results.summaries import LOSS, Summary, losses_by_depth, summarise
from training.results.views.depths import BY_DEPTH, marks_by_depth
from training.results.views.figure import FigureView, Mark, cut_off
from training.results.views.pairs import compare_all, compare_two, pairs_table
from training.results.views.table import Column, Table, with_values

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
    group, found = find_group(records, recipe), {}
    for label, runs in group.runs.items() if group else ():
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
        *(Column(f"at {steps}", f"loss at {steps}", show_mean) for steps in SHOWN_DEPTHS),
    ]
    return Table(rows, with_values(rows, columns))


def prices(records: Sequence[RunRecord]) -> Pairs:
    """What drawn depths cost at the model's own number of depth steps, by seed."""
    fixed, elastic = (losses_at_depths(records, recipe) for recipe in (FIXED, ELASTIC))
    return _compare_at((label, drawn, fixed.get(label), [drawn.own]) for label, drawn in elastic.items())


def gains_of_gates(records: Sequence[RunRecord]) -> Pairs:
    """Gates on t against plain sharing at several depths, both trained at drawn depths, by seed."""
    losses = losses_at_depths(records, ELASTIC)
    return _compare_at((label, gated, losses.get(label + TIED), COMPARED_DEPTHS) for label, gated in losses.items())


def prices_of_features(records: Sequence[RunRecord]) -> Pairs:
    """Other features of t, and none of dt, against the usual ones, all trained at drawn depths, by seed."""
    losses = losses_at_depths(records, FEATURES)
    usual = losses.pop(USUAL_FEATURES, None)
    return _compare_at((label, changed, usual, FAR_DEPTHS) for label, changed in losses.items())


def _compare_at(asked: Iterable[tuple[str, DepthLosses, DepthLosses | None, Sequence[int]]]) -> Pairs:
    """Two models each, at those of some depths that both were read with; under the name that comes first."""
    return compare_all(
        {
            (label, steps): (first.at[steps], second.at[steps])
            for label, first, second, depths in asked
            for steps in depths
            if second and steps in first.at.keys() & second.at.keys()
        }
    )


def price_table(records: Sequence[RunRecord]) -> Table:
    return _pairs_table(prices(records), "drawn minus fixed")


def gates_table(records: Sequence[RunRecord]) -> Table:
    return _pairs_table(gains_of_gates(records), "gated minus tied")


def features_table(records: Sequence[RunRecord]) -> Table:
    return _pairs_table(prices_of_features(records), "changed minus usual")


def _pairs_table(pairs: Pairs, heading: str) -> Table:
    asked = [Column("model", "model", title_of, is_text=True), Column("steps", "depth steps")]
    return pairs_table(pairs, asked, f"{heading} (nats/byte)")


def reach_table(records: Sequence[RunRecord]) -> Table:
    """How far a model trained at drawn depths is from itself at its own number of depth steps."""
    rows: list[dict[str, Any]] = []
    for label, losses in losses_at_depths(records, ELASTIC).items():
        if losses.own in losses.at:
            own = losses.at[losses.own]
            apart = {f"at {steps}": compare_two(at, own) for steps, at in losses.at.items() if steps != losses.own}
            rows.append({"model": label, "own": losses.own, **apart})
    columns = [Column("model", "model", title_of, is_text=True), Column("own", "own depth steps")]
    columns += [Column(f"at {steps}", f"at {steps}", _show_difference) for steps in SHOWN_DEPTHS]
    return Table(rows, with_values(rows, columns))


def _show_difference(pair: Comparison) -> str:
    return f"{pair.difference:+.3f}" + (f" ({show_interval(pair.interval)})" if pair.interval else "")


def elastic_view(records: Sequence[RunRecord]) -> FigureView[Mark]:
    """Loss against depth steps: solid lines for drawn depths, broken ones for a single depth."""
    marks = []
    for recipe in (ELASTIC, FIXED):
        for label, losses in losses_at_depths(records, recipe).items():
            kind, is_drawn = losses.run.kind, recipe == ELASTIC
            # A model without gates has the colour of the kind it is a variant of, and other lines.
            line = (0 if is_drawn else 1) + (0 if label == kind else 2)
            trained = "drawn depths" if is_drawn else f"{losses.own} depth steps"
            title = f"{title_of(label)}, trained at {trained}"
            marks += marks_by_depth(losses.at, losses.own, label=label, title=title, kind=kind, line=line)
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
