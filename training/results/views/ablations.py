"""What sharing, gates and time each do to the loss: weight sources by mixers, and the questions they answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from tipshare.kinds import MIXERS, SOURCES, source_title, title_of
from training.results.formatting import count_in_words, show_mean
from training.results.groups import RunGroup, group_records
from training.results.records import RunRecord
from training.results.selection import Selection
from training.results.significance import Comparison
from training.results.summaries import Summary, summarise_group, summarise_runs
from training.results.views.figure import Cell, FigureView
from training.results.views.pairs import compare_all, pairs_table
from training.results.views.table import Column, Table, named

FEWEST_CELLS = 5
# Rows of the table that are no weight sources, but gated blocks with one more change.
CONSTANT, TIME_INVARIANT = "gated, t constant", "gated, time-invariant"
CHANGED_GATED = {
    CONSTANT: "one block, gates that cannot see t",
    TIME_INVARIANT: "one block, gated by t, time-invariant state space",
}
# What is asked, and the two rows whose difference answers it.
QUESTIONS: tuple[tuple[str, str, str], ...] = (
    ("gates on t against plain sharing", "gated", "tied"),
    ("gates on t against gates that cannot see t", "gated", CONSTANT),
    ("a step size that depends on the input against one that does not", "gated", TIME_INVARIANT),
    ("one gated block against a block per layer", "gated", "own"),
    ("weights generated from t against a block per layer", "generated", "own"),
)

Cells = Mapping[tuple[str, str], Sequence[RunRecord]]


@dataclass(frozen=True, kw_only=True)
class GridCell(Cell):
    """The loss of the model that stands for a weight source and a mixer; None if there was no run."""

    weights: str
    mixer: str
    label: str = ""
    loss: Summary | None = None
    parameters: int | None = None


def grid_view(selection: Selection) -> FigureView[GridCell]:
    """The loss by where weights come from and what follows attention."""

    def filled(group: RunGroup) -> int:
        count = len(_grid_models(group, selection.metric))
        return count if count >= FEWEST_CELLS else 0

    group = selection.group_with(filled)
    missing = ""
    if selection.source == "published":
        missing = "nothing was published of this grid: switch to measured"
    elif group is None:
        count = len(_grid_models(selection.group, selection.metric))
        missing = f"the grid of weight sources and mixers needs {FEWEST_CELLS} cells with runs, not {count}"
    csv = {**named("weights", "mixer", "parameters"), "model": "label", "loss": "loss.mean", "seeds": "loss.num_seeds"}
    return FigureView(
        name="ablation_grid",
        title="Loss by weight source and mixer",
        form="matrix",
        runs=(group or selection.group).name,
        points=_grid_cells(group, selection.metric) if group else (),
        csv=csv | {"low": "loss.low", "high": "loss.high"},
        x_label="what follows attention (bluer: lower loss)",
        y_label="weights at depth t",
        missing=missing,
        names_runs=True,
    )


def _grid_models(group: RunGroup, metric: str) -> dict[tuple[str, str], tuple[str, Summary]]:
    """The model of every cell (weights, mixer), and its summary.

    Several models may lie in one cell; the one that changes the fewest other fields of its kind stands for it.
    """

    def changes(label: str) -> int:
        config = group.config_of(label)
        return sum(getattr(config, each.name) != each.default for each in fields(config))

    models: dict[tuple[str, str], tuple[str, Summary]] = {}
    summaries = summarise_group(group, metric)
    for label in sorted(summaries, key=changes):
        config = group.config_of(label)
        models.setdefault((config.weights, config.mixer), (label, summaries[label]))
    return models


def _grid_cells(group: RunGroup, metric: str) -> list[GridCell]:
    models = _grid_models(group, metric)
    means = [summary.mean for _, summary in models.values()]
    cells = []
    for weights in _in_order((weights for weights, _ in models), SOURCES):
        for mixer in _in_order((mixer for _, mixer in models), MIXERS):
            title = MIXERS.get(mixer, mixer)
            cell = GridCell(row=source_title(weights), column=title, weights=weights, mixer=mixer)
            if (weights, mixer) in models:
                label, loss = models[weights, mixer]
                name = "" if label == f"{weights} + {mixer}" else title_of(label)
                count = group.runs[label][0].parameters.get("total")
                size = f"{count_in_words(count)} parameters" if count else ""
                cell = replace(
                    cell,
                    colour=_shade((max(means) - loss.mean) / (max(means) - min(means) or 1.0)),
                    lines=tuple(each for each in (show_mean(loss), name, size) if each),
                    label=label,
                    loss=loss,
                    parameters=count,
                )
            cells.append(cell)
    return cells


def _shade(share: float) -> str:
    """From light grey to a blue that is never so dark that dark letters on it are hard to read."""
    light, dark = (0xF3, 0xF4, 0xF6), (0x4B, 0xA3, 0xD6)
    return "#" + "".join(f"{round(low + share * (high - low)):02X}" for low, high in zip(light, dark, strict=True))


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
            elif group.name == "ablation-selective" and not config.selective:
                cells[TIME_INVARIANT, config.mixer] = runs
    return cells


def ablation_table(cells: Cells) -> Table:
    """Size and loss of every cell: where weights come from, by what follows attention."""
    known = [row for source in SOURCES for row in ((source, *CHANGED_GATED) if source == "gated" else (source,))]
    rows = [
        {
            "weights": CHANGED_GATED.get(row) or source_title(row),
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
    asked = [
        Column("question", "question", is_text=True),
        Column("mixer", "after attention", MIXERS.__getitem__, is_text=True),
    ]
    return pairs_table(answers(cells), asked)


def answers(cells: Cells) -> dict[tuple[str, str], Comparison]:
    """By question and mixer: the paired comparison, with Holm's correction over these questions alone."""
    return compare_all(
        {
            (question, mixer): (summarise_runs(cells[first, mixer]), summarise_runs(cells[second, mixer]))
            for question, first, second in QUESTIONS
            for mixer in MIXERS
            if cells.keys() >= {(first, mixer), (second, mixer)}
        }
    )


def _in_order(found: Iterable[str], known: Iterable[str]) -> list[str]:
    """What was found, in the known order; what has no place in it follows."""
    places = {each: place for place, each in enumerate(known)}
    return sorted(set(found), key=lambda each: (places.get(each, len(places)), each))
