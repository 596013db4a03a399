"""What sharing, gates and time each do to the loss: ablations as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from training.report.markdown import markdown_table
from training.report.tables import NOTHING, count_in_words, show_mean, show_p
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord
from training.results.significance import Comparison, compare, holm
from training.results.summaries import Summary, summarise_runs

MIXERS = {"mlp": "MLP", "ssm": "state space"}


@dataclass(frozen=True)
class Source:
    """Where weights come from: in words, and the recipe and label whose runs tell what it is worth."""

    words: str
    recipe: str
    label: str


SOURCES: dict[str, Source] = {
    "own": Source("own: a block per layer", "ablation-weights", "own + {mixer}"),
    "generated": Source("generated from t", "ablation-weights", "generated + {mixer}"),
    "gated": Source("one block, gated by t", "ablation-weights", "gated + {mixer}"),
    "constant": Source("one block, gates that cannot see t", "ablation-time", "time-indexed-{mixer}, t constant"),
    "tied": Source("one block, no gates (plain sharing)", "ablation-weights", "tied + {mixer}"),
}
# What is asked, and the two sources whose difference answers it.
QUESTIONS: tuple[tuple[str, str, str], ...] = (
    ("gates on t against plain sharing", "gated", "tied"),
    ("gates on t against gates that cannot see t", "gated", "constant"),
    ("one gated block against a block per layer", "gated", "own"),
    ("weights generated from t against a block per layer", "generated", "own"),
)

Cells = Mapping[tuple[str, str], Sequence[RunRecord]]


def ablation_cells(records: Sequence[RunRecord]) -> Cells:
    """The runs of every (source, mixer) that was trained with the published budget."""
    groups: dict[str, RunGroup] = {each.name: each for each in group_records(records)}
    cells = {}
    for source, where in SOURCES.items():
        for mixer in MIXERS:
            group = groups.get(where.recipe)
            runs = group.runs.get(where.label.format(mixer=mixer)) if group else None
            if runs:
                cells[source, mixer] = runs
    return cells


def ablation_table(cells: Cells) -> str:
    """Size and loss of every cell: where weights come from, by what follows attention."""
    heads = [
        "weights at depth t",
        *(f"{title}: {what}" for title in MIXERS.values() for what in ("parameters", "loss (nats/byte)")),
    ]
    rows = [
        (where.words, *(text for mixer in MIXERS for text in _size_and_loss(cells.get((source, mixer)))))
        for source, where in SOURCES.items()
    ]
    return markdown_table(heads, rows)


def question_table(cells: Cells) -> str:
    """The differences that answer the questions, with their intervals and tests."""
    heads = ("question", "after attention", "difference (nats/byte)", "95 % interval", "seeds", "p", "p, corrected")
    rows = [
        (
            question,
            MIXERS[mixer],
            f"{pair.difference:+.3f}",
            NOTHING if pair.low is None else f"{pair.low:+.3f} to {pair.high:+.3f}",
            str(len(pair.seeds)),
            show_p(pair.p_value),
            show_p(pair.p_holm),
        )
        for (question, mixer), pair in answers(cells).items()
    ]
    return markdown_table(heads, rows, is_number=(False, False, *(True for _ in heads[2:])))


def answers(cells: Cells) -> dict[tuple[str, str], Comparison]:
    """By question and mixer: the paired comparison, with Holm's correction over these questions alone."""
    found: dict[tuple[str, str], Comparison] = {}
    for question, first, second in QUESTIONS:
        for mixer in MIXERS:
            runs = {name: cells[name, mixer] for name in (first, second) if (name, mixer) in cells}
            if len(runs) == 2:
                summaries: dict[str, Summary] = {name: summarise_runs(each) for name, each in runs.items()}
                found[question, mixer] = compare(first, second, summaries)
    corrected = holm([pair.p_value for pair in found.values()])
    return {asked: replace(pair, p_holm=p) for (asked, pair), p in zip(found.items(), corrected, strict=True)}


def _size_and_loss(runs: Sequence[RunRecord] | None) -> tuple[str, str]:
    if not runs:
        return NOTHING, NOTHING
    return count_in_words(runs[0].parameters["total"]), show_mean(summarise_runs(runs))
