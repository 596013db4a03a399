"""What sharing, gates and time each do to the loss: weight sources by mixers, and the questions they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tipshare.config import KINDS, ModelConfig
from tipshare.kinds import MIXERS, SOURCES, source_title, title_of
from training.results.formatting import count_in_words, show_interval, show_mean, show_p
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord
from training.results.selection import Selection
from training.results.significance import Comparison, compare, holm
from training.results.summaries import Summary, summarise_group, summarise_runs
from training.results.views.comparisons import interval_of
from training.results.views.figure import FigureView
from training.results.views.table import Column, Table, loss_columns, make_table

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
    """A cell of the grid that was run.

    Attributes:
        name: The model that stands for the cell; empty if its label only repeats the cell.
        rank: From 0 for the highest loss of the grid to 1 for the lowest.
    """

    weights: str
    mixer: str
    row: str
    column: str
    label: str
    name: str
    loss: Summary
    parameters: int | None
    rank: float


def grid_view(selection: Selection) -> FigureView[GridCell]:
    """The loss by where weights come from and what follows attention."""

    def filled(group: RunGroup) -> int:
        count = len(_grid_models(group, selection.metric))
        return count if count >= FEWEST_CELLS else 0

    group = selection.group_with(filled)
    cells = _grid_cells(group, selection.metric) if group else []
    missing = ""
    if selection.source == "published":
        missing = "nothing was published of this grid: switch to measured"
    elif group is None:
        count = len(_grid_models(selection.group, selection.metric))
        missing = f"the grid of weight sources and mixers needs {FEWEST_CELLS} cells with runs, not {count}"
    columns: list[Column[GridCell]] = [
        Column("recipe", lambda cell: group.name if group else ""),
        Column("weights", lambda cell: cell.weights),
        Column("mixer", lambda cell: cell.mixer),
        Column("model", lambda cell: cell.label),
        Column("parameters", lambda cell: cell.parameters),
        *loss_columns(lambda cell: cell.loss),
    ]
    return FigureView(
        name="ablation_grid",
        title="Loss by weight source and mixer",
        runs=(group or selection.group).name,
        points=tuple(cells),
        table=make_table(columns, cells),
        x_label="what follows attention",
        y_label="weights at depth t",
        rows=tuple(dict.fromkeys(cell.row for cell in cells)),
        columns=tuple(_in_order({cell.column for cell in cells}, list(MIXERS.values()))),
        missing=missing,
    )


def _grid_models(group: RunGroup, metric: str) -> dict[tuple[str, str], tuple[str, Summary]]:
    """The model of every cell (weights, mixer), and its summary.

    Several models may lie in one cell; the one that changes the fewest other fields of its kind stands for it.
    """
    models: dict[tuple[str, str], tuple[str, Summary]] = {}
    changes: dict[tuple[str, str], int] = {}
    for label, summary in summarise_group(group, metric).items():
        config = group.config_of(label)
        cell, changed = (config.weights, config.mixer), _count_changes(config)
        if cell not in changes or changed < changes[cell]:
            models[cell], changes[cell] = (label, summary), changed
    return models


def _count_changes(config: ModelConfig) -> int:
    usual = KINDS[config.kind]().to_dict()
    return sum(value != usual[name] for name, value in config.to_dict().items())


def _grid_cells(group: RunGroup, metric: str) -> list[GridCell]:
    models = _grid_models(group, metric)
    means = [summary.mean for _, summary in models.values()]
    spread = (max(means) - min(means)) or 1.0
    return [
        GridCell(
            weights=weights,
            mixer=mixer,
            row=source_title(weights),
            column=MIXERS.get(mixer, mixer),
            label=label,
            name="" if label == f"{weights} + {mixer}" else title_of(label),
            loss=summary,
            parameters=group.runs[label][0].parameters.get("total"),
            rank=(max(means) - summary.mean) / spread,
        )
        for weights in _in_order({weights for weights, _ in models}, list(SOURCES))
        for mixer in _in_order({mixer for _, mixer in models}, list(MIXERS))
        if (weights, mixer) in models
        for label, summary in [models[weights, mixer]]
    ]


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

    def title(row: str) -> str:
        return "one block, gates that cannot see t" if row == CONSTANT else source_title(row)

    def size(mixer: str) -> Column[str]:
        def value(row: str) -> int | None:
            return cells[row, mixer][0].parameters["total"] if (row, mixer) in cells else None

        return Column(f"{mixer}_parameters", value, count_in_words, f"{MIXERS.get(mixer, mixer)}: parameters")

    def loss(mixer: str) -> Column[str]:
        def value(row: str) -> Summary | None:
            return summarise_runs(cells[row, mixer]) if (row, mixer) in cells else None

        return Column("", value, show_mean, f"{MIXERS.get(mixer, mixer)}: loss (nats/byte)")

    rows = [row for source in SOURCES for row in ((source, CONSTANT) if source == "gated" else (source,))]
    rows = _in_order({row for row, _ in cells}, rows)
    mixers = _in_order({mixer for _, mixer in cells} | set(MIXERS), list(MIXERS))
    first: Column[str] = Column("weights", lambda row: row, title, "weights at depth t", is_text=True)
    return make_table([first, *(column for mixer in mixers for column in (size(mixer), loss(mixer)))], rows)


def question_table(cells: Cells) -> Table:
    """The differences that answer the questions, with their intervals and tests."""
    columns: list[Column[tuple[str, str, Comparison]]] = [
        Column("question", lambda row: row[0], is_text=True),
        Column("after attention", lambda row: MIXERS.get(row[1], row[1]), is_text=True),
        Column("difference (nats/byte)", lambda row: row[2].difference, "+.3f"),
        Column("95 % interval", lambda row: interval_of(row[2]), show_interval),
        Column("seeds", lambda row: len(row[2].seeds)),
        Column("p", lambda row: row[2].p_value, show_p),
        Column("p, corrected", lambda row: row[2].p_holm, show_p),
    ]
    return make_table(columns, [(*asked, pair) for asked, pair in answers(cells).items()])


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


def _in_order(found: set[str], known: Sequence[str]) -> list[str]:
    """What was found, in the known order; what has no place in it follows."""
    return [each for each in known if each in found] + sorted(found - set(known))
