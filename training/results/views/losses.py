"""The results table, and figures of its rows: loss, size and step time of every model."""

from dataclasses import dataclass

from training.results.formatting import count_in_words, show_compression, show_mean
from training.results.rows import ResultRow
from training.results.selection import Selection
from training.results.summaries import LOSS
from training.results.views.figure import FigureView, loss_label
from training.results.views.table import Column, Table, named, value_at

# Columns of a CSV.
WHO = {"model": "label", **named("kind", "source")}
LOSSES = {"loss": "loss.mean", "seeds": "loss.num_seeds"}
LOSSES |= {name: f"loss.{name}" for name in ("low", "high", "deviation")}


@dataclass(frozen=True)
class Mark:
    """A mark of the loss figure: a model's mean with its interval, or one of its seeds."""

    row: ResultRow
    mark: str
    loss: float
    seed: int | None = None
    low: float | None = None
    high: float | None = None


def results_table(*selections: Selection) -> Table:
    """A row per model and source; the lowest measured loss is the best. Several selections follow each other."""
    rows = [row for selection in selections for row in selection.rows()]
    measured = [row for row in rows if not row.is_published]
    best = min(measured, key=lambda row: row.loss.mean) if len(measured) > 1 else None
    metric = selections[0].metric
    plain = {row.plain for row in rows}
    size = count_in_words(plain.pop()) if len(plain) == 1 else "of its size"
    heading = "loss (nats/byte)" if metric == LOSS else metric
    columns = [
        Column("title", "model", is_text=True),
        Column("source", "source", is_text=True),
        Column("parameters", "parameters", count_in_words),
        Column("effective_parameters", "effective", count_in_words),
        Column("compression", f"against plain {size}", show_compression),
        Column("loss", heading, show_mean, is_best=lambda row: row is best),
        Column("loss.num_seeds", "seeds"),
        Column("bits_per_byte", "bits/byte", ".3f"),
        Column("step_ms", "ms/step", ".1f"),
        Column("memory_mb", "memory (MB)", ",.0f"),
    ]
    # A column without a number tells readers nothing, and neither does the source of all rows.
    empty = {each.path for each in columns if rows and all(value_at(row, each.path) is None for row in rows)}
    empty |= {"source"} if len({row.source for row in rows}) < 2 else set()
    csv = {**WHO, "recipe": "group.name", "corpus": "group.corpus", "training_steps": "group.num_steps"}
    csv |= LOSSES | named("metric", "parameters", "effective_parameters", "compression", "bits_per_byte", "step_ms")
    csv |= named("memory_mb", "device")
    return Table(rows, [each for each in columns if each.path not in empty], csv)


def loss_view(selection: Selection) -> FigureView[Mark]:
    """The loss of every model: mean, interval and seeds."""
    rows = selection.rows()
    marks = []
    for row in rows:
        marks.append(Mark(row, "mean", row.loss.mean, low=row.loss.low, high=row.loss.high))
        if row.loss.num_seeds > 1:  # a single run is its own mean
            seeds = zip(row.loss.values, row.loss.seeds, strict=True)
            marks += [Mark(row, "seed", loss, seed) for loss, seed in seeds]
    missing = f"no run of {selection.group.name} has the final number {selection.metric!r}"
    if selection.source == "published":
        missing = f"nothing was published for {selection.group.name}: choose published-1000 or published-3000"
    csv = {name: f"row.{path}" for name, path in WHO.items()} | named("mark", "seed", "loss", "low", "high")
    title = f"{_metric_title(selection)} by model"
    label = loss_label(selection.metric)
    return FigureView("loss", title, selection.group.name, marks, csv, label, missing="" if rows else missing)


def parameters_view(selection: Selection) -> FigureView[ResultRow]:
    """Loss against stored parameters."""
    rows = [row for row in selection.rows() if row.parameters]
    return FigureView(
        "loss_against_parameters",
        f"{_metric_title(selection)} against stored parameters",
        selection.group.name,
        rows,
        {**WHO, "parameters": "parameters", **LOSSES},
        "stored parameters",
        loss_label(selection.metric),
        missing="" if len(rows) > 1 else "loss against parameters needs two models with a parameter count",
    )


def step_time_view(selection: Selection) -> FigureView[ResultRow]:
    """Milliseconds per training step; the rows of one device stand together."""
    rows = [row for row in selection.rows() if row.step_ms]
    devices = list(dict.fromkeys(row.device for row in rows))
    rows.sort(key=lambda row: devices.index(row.device))
    label = "ms per training step" + (" (compare rows of one device only)" if len(devices) > 1 else "")
    missing = "" if rows else "step time needs runs that recorded it"
    csv = WHO | named("device", "step_ms")
    return FigureView("step_time", "Time per training step", selection.group.name, rows, csv, label, missing=missing)


def _metric_title(selection: Selection) -> str:
    return "Validation loss" if selection.metric == LOSS else selection.metric
