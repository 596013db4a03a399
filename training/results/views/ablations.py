"""What sharing, gates and time each do to the loss: weight sources by mixers, and the questions they answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tipshare.config import KINDS, ModelConfig
from tipshare.kinds import MIXERS, SOURCES, source_title, title_of
from training.results.formatting import count_in_words, show_interval, show_mean, show_p
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord
from training.results.selection import Selection
from training.results.significance import Comparison, compare, holm
from training.results.summaries import Summary, summarise_group, summarise_runs
from training.results.views.figure import FigureView
from training.results.views.losses import LOSSES
from training.results.views.table import Column, Table, named

FEWEST_CELLS = 5
# A row of the table that is no weight source: gates for which t is held constant.
CONSTANT = "gated, t constant"
# What is asked, and the two rows whose difference answers it.
QUESTIONS: tuple[tuple[str, str, str], ...] = (
    ("gates on t against plain sharing", "gated", "tied"),
    ("gates on t against gates that cannot see t", "gated", CONSTANT),
    ("one gated block against a block per layer", "gated", "own"),
    ("weights generated from t against a block per layer", "generated", "own"),
)

Cells = Mapping[tuple[str, str], Sequence[RunRecord]]


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """A cell of the grid; without a loss if it was not run.

    Attributes:
        name: The model that stands for the cell; empty if its label only repeats the cell.
        rank: From 0 for the highest loss of the grid to 1 for the lowest.
    """

    runs: str
    weights: str
    mixer: str
    row: str
    column: str
    label: str = ""
    name: str = ""
    loss: Summary | None = None
    parameters: int | None = None
    rank: float | None = None


def grid_view(selection: Selection) -> FigureView[GridCell]:
    """The loss by where weights come from and what follows attention."""

    def count(group: RunGroup) -> int:
        return len(_grid_models(group, selection.metric))

    group = selection.group_with(lambda group: count(group) if count(group) >= FEWEST_CELLS else 0)
    missing = ""
    if selection.source == "published":
        missing = "nothing was published of this grid: switch to measured"
    elif group is None:
        cells = count(selection.group)
        missing = f"the grid of weight sources and mixers needs {FEWEST_CELLS} cells with runs, not {cells}"
    return FigureView(
        "ablation_grid",
        "Loss by weight source and mixer",
        (group or selection.group).name,
        _grid_cells(group, selection.metric) if group else (),
        {"recipe": "runs", "model": "label", **named("weights", "mixer", "parameters"), **LOSSES},
        "what follows attention",
        "weights at depth t",
        missing,
    )


def _grid_models(group: RunGroup, metric: str) -> dict[tuple[str, str], tuple[str, Summary]]:
    """The model of every cell (weights, mixer), and its summary.

    Several models may lie in one cell; the one that changes the fewest other fields of its kind stands for it.
    """

    def changes(config: ModelConfig) -> int:
        usual = KINDS[config.kind]().to_dict()
        return sum(value != usual[name] for name, value in config.to_dict().items())

    models = {}
    # The last of a cell stays: the one with the fewest changes, and of equal ones the first in the group.
    for label in sorted(reversed(group.labels), key=lambda label: -changes(group.config_of(label))):
        config, summary = group.config_of(label), summarise_group(group, metric).get(label)
        if summary:
            models[config.weights, config.mixer] = (label, summary)
    return models


def _grid_cells(group: RunGroup, metric: str) -> list[GridCell]:
    models = _grid_models(group, metric)
    means = [summary.mean for _, summary in models.values()]
    cells = []
    for weights in _in_order((weights for weights, _ in models), SOURCES):
        for mixer in _in_order((mixer for _, mixer in models), MIXERS):
            cell = GridCell(
                runs=group.name,
                weights=weights,
                mixer=mixer,
                row=source_title(weights),
                column=MIXERS.get(mixer, mixer),
            )
            if (weights, mixer) in models:
                label, loss = models[weights, mixer]
                cell = replace(
                    cell,
                    label=label,
                    name="" if label == f"{weights} + {mixer}" else title_of(label),
                    loss=loss,
                    parameters=group.runs[label][0].parameters.get("total"),
                    rank=(max(means) - loss.mean) / (max(means) - min(means) or 1.0),
                )
            cells.append(cell)
    return cells


def ablation_cells(records: Sequence[RunRecord]) -> Cells:
    """The runs of the ablations, by row of the table and mixer."""
    cells: dict[tuple[str, str], Sequence[RunRecord]] = {}
    for group in group_records(records):
        for label, runs in group.runs.items():
            config = group.config_of(label)
            if group.name == "ablation-weights":
                cells[config.weights, config.mixer] = runs
            elif group.name == "ablation-time" and (config.weights, config.time) == ("gated", "constant"):
                cells[CONSTANT, config.mixer] = runs
    return cells


def ablation_table(cells: Cells) -> Table:
    """Size and loss of every cell: where weights come from, by what follows attention."""
    known = [row for source in SOURCES for row in ((source, CONSTANT) if source == "gated" else (source,))]
    rows = [
        {
            "weights": "one block, gates that cannot see t" if row == CONSTANT else source_title(row),
            **{
                mixer: {"run": runs[0], "loss": summarise_runs(runs)}
                for (at, mixer), runs in cells.items()
                if at == row
            },
        }
        for row in _in_order((row for row, _ in cells), known)
    ]
    columns = [Column("weights", "weights at depth t", is_text=True)]
    for mixer in _in_order([*MIXERS, *(mixer for _, mixer in cells)], MIXERS):
        title = MIXERS.get(mixer, mixer)
        columns.append(Column(f"{mixer}.run.parameters.total", f"{title}: parameters", count_in_words))
        columns.append(Column(f"{mixer}.loss", f"{title}: loss (nats/byte)", show_mean))
    return Table(rows, columns)


def question_table(cells: Cells) -> Table:
    """The differences that answer the questions, with their intervals and tests."""
    columns = [
        Column("question", "question", is_text=True),
        Column("mixer", "after attention", is_text=True),
        Column("pair.difference", "difference (nats/byte)", "+.3f"),
        Column("pair.interval", "95 % interval", show_interval),
        Column("pair.num_seeds", "seeds"),
        Column("pair.p_value", "p", show_p),
        Column("pair.p_holm", "p, corrected", show_p),
    ]
    rows = [
        {"question": question, "mixer": MIXERS.get(mixer, mixer), "pair": pair}
        for (question, mixer), pair in answers(cells).items()
    ]
    return Table(rows, columns)


def answers(cells: Cells) -> dict[tuple[str, str], Comparison]:
    """By question and mixer: the paired comparison, with Holm's correction over these questions alone."""
    found: dict[tuple[str, str], Comparison] = {}
    for question, first, second in QUESTIONS:
        for mixer in MIXERS:
            runs = {name: cells[name, mixer] for name in (first, second) if (name, mixer) in cells}
            if len(runs) == 2:
                summaries = {name: summarise_runs(each) for name, each in runs.items()}
                found[question, mixer] = compare(first, second, summaries)
    corrected = holm([pair.p_value for pair in found.values()])
    return {asked: replace(pair, p_holm=p) for (asked, pair), p in zip(found.items(), corrected, strict=True)}


def _in_order(found: Iterable[str], known: Iterable[str]) -> list[str]:
    """What was found, in the known order; what has no place in it follows."""
    places = {each: place for place, each in enumerate(known)}
    return sorted(set(found), key=lambda each: (places.get(each, len(places)), each))
