"""The results table, and figures of its rows: loss, size and step time of every model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from training.results.formatting import count_in_words, show_compression, show_mean
from training.results.rows import ResultRow
from training.results.selection import Selection
from training.results.summaries import LOSS
from training.results.views.figure import FigureView, loss_label
from training.results.views.table import Column, Table, loss_columns, make_table

Each = TypeVar("Each")


@dataclass(frozen=True)
class Mark:
    """One mark of the loss figure: a model's mean with its interval, or one of its seeds."""

    row: ResultRow
    seed: int | None
    loss: float
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
    columns: list[Column[ResultRow]] = [
        Column("title", lambda row: row.title, heading="model", is_text=True),
        *_who(lambda row: row, source="source" if len({row.source for row in rows}) > 1 else ""),
        Column("recipe", lambda row: row.runs, heading=""),
        Column("corpus", lambda row: row.corpus, heading=""),
        Column("training_steps", lambda row: row.num_steps, heading=""),
        Column("parameters", lambda row: row.parameters, count_in_words),
        Column("effective_parameters", lambda row: row.effective, count_in_words, "effective"),
        Column("compression", lambda row: row.compression, show_compression, f"against plain {size}"),
        Column("metric", lambda row: metric, heading=""),
        *loss_columns(lambda row: row.loss),
        Column("half_width", lambda row: row.loss.half_width, heading=""),
        Column(
            "",
            lambda row: row.loss,
            show_mean,
            "loss (nats/byte)" if metric == LOSS else metric,
            is_best=lambda row: row is best,
        ),
        Column("", lambda row: len(row.loss.values), heading="seeds"),
        Column("bits_per_byte", lambda row: row.bits_per_byte, ".3f", "bits/byte"),
        Column("step_ms", lambda row: row.step_ms, ".1f", "ms/step"),
        Column("memory_mb", lambda row: row.memory_mb, ",.0f", "memory (MB)"),
        Column("device", lambda row: row.device, heading=""),
    ]
    # A column without a single number tells readers nothing; a CSV keeps it.
    columns = [
        each if not rows or any(each.value(row) is not None for row in rows) else replace(each, heading="")
        for each in columns
    ]
    return make_table(columns, rows)


def loss_view(selection: Selection) -> FigureView[ResultRow]:
    """The loss of every model: mean, interval and seeds."""
    rows = selection.rows()
    marks = []
    for row in rows:
        marks.append(Mark(row, None, row.loss.mean, row.loss.low, row.loss.high))
        # A single run is its own mean.
        if len(row.loss.values) > 1:
            marks += [Mark(row, seed, loss) for seed, loss in zip(row.loss.seeds, row.loss.values, strict=True)]
    columns: list[Column[Mark]] = [
        *_who(lambda mark: mark.row),
        Column("mark", lambda mark: "mean" if mark.seed is None else "seed"),
        Column("seed", lambda mark: mark.seed),
        Column("loss", lambda mark: mark.loss),
        Column("low", lambda mark: mark.low),
        Column("high", lambda mark: mark.high),
    ]
    return FigureView(
        name="loss",
        title=f"{_metric_title(selection)} by model",
        runs=selection.group.name,
        points=tuple(rows),
        table=make_table(columns, marks),
        x_label=loss_label(selection.metric),
        missing="" if rows else _no_rows(selection),
    )


def parameters_view(selection: Selection) -> FigureView[ResultRow]:
    """Loss against stored parameters."""
    rows = [row for row in selection.rows() if row.parameters]
    columns: list[Column[ResultRow]] = [
        *_who(lambda row: row),
        Column("parameters", lambda row: row.parameters),
        *loss_columns(lambda row: row.loss),
    ]
    return FigureView(
        name="loss_against_parameters",
        title=f"{_metric_title(selection)} against stored parameters",
        runs=selection.group.name,
        points=tuple(rows),
        table=make_table(columns, rows),
        x_label="stored parameters",
        y_label=loss_label(selection.metric),
        missing="" if len(rows) > 1 else "loss against parameters needs two models with a parameter count",
    )


def step_time_view(selection: Selection) -> FigureView[ResultRow]:
    """Milliseconds per training step; the rows of one device stand together."""
    rows = [row for row in selection.rows() if row.step_ms]
    devices = list(dict.fromkeys(row.device for row in rows))
    rows.sort(key=lambda row: devices.index(row.device))
    columns: list[Column[ResultRow]] = [
        *_who(lambda row: row),
        Column("device", lambda row: row.device),
        Column("step_ms", lambda row: row.step_ms),
    ]
    return FigureView(
        name="step_time",
        title="Time per training step",
        runs=selection.group.name,
        points=tuple(rows),
        table=make_table(columns, rows),
        x_label="ms per training step" + (" (compare rows of one device only)" if len(devices) > 1 else ""),
        missing="" if rows else "step time needs runs that recorded it",
    )


def _who(row_of: Callable[[Each], ResultRow], source: str = "") -> list[Column[Each]]:
    """The columns that tell which model a number is of; readers see the source under the heading that is given."""
    return [
        Column("model", lambda each: row_of(each).label, heading=""),
        Column("kind", lambda each: row_of(each).kind, heading=""),
        Column("source", lambda each: row_of(each).source, heading=source, is_text=True),
    ]


def _metric_title(selection: Selection) -> str:
    return "Validation loss" if selection.metric == LOSS else selection.metric


def _no_rows(selection: Selection) -> str:
    if selection.source == "published":
        return f"nothing was published for {selection.group.name}: choose published-1000 or published-3000, or measured"
    return f"no run of {selection.group.name} has the final number {selection.metric!r}"
