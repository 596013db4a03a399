"""The results table, and figures of its rows: loss, size and step time of every model."""

from collections import Counter
from typing import Any

from training.results.formatting import count_in_words, show_compression, show_mean
from training.results.rows import ResultRow
from training.results.selection import Selection
from training.results.summaries import LOSS
from training.results.views.figure import WHO, FigureView, Mark, loss_label, of_summary, with_front
from training.results.views.table import Column, Table, named, with_values


def results_table(*selections: Selection) -> Table:
    """A row per model and source; the lowest measured loss is the best. Several selections follow each other."""
    rows = [row for selection in selections for row in selection.rows()]
    measured = [row for row in rows if not row.is_published]
    best = min(measured, key=lambda row: row.loss.mean) if len(measured) > 1 else None
    metric = selections[0].metric
    plain = {row.plain for row in rows}
    size = count_in_words(plain.pop()) if len(plain) == 1 else "of its width"
    heading = f"loss ({selections[0].group.unit}/byte)" if metric == LOSS else metric
    columns = [
        Column("title", "model", is_text=True),
        Column("source", "source", is_text=True),
        Column("parameters", "parameters", count_in_words),
        Column("effective_parameters", "effective", count_in_words),
        Column("trained_parameters", "trained", count_in_words),
        Column("compression", f"against plain {size}", show_compression),
        Column("loss", heading, show_mean, is_best=lambda row: row is best),
        Column("loss.num_seeds", "seeds"),
        Column("bits_per_byte", "bits/byte", ".3f"),
        Column("step_ms", "ms/step", ".1f"),
        Column("memory_mb", "memory (MB)", ",.0f"),
    ]
    if len({row.source for row in rows}) < 2:  # the source of all rows tells readers nothing
        columns = [each for each in columns if each.path != "source"]
    csv = {**WHO, "recipe": "group.name", "corpus": "group.corpus", "training_steps": "group.num_steps"}
    csv |= {"metric": "metric", "unit": "group.unit", "loss": "loss.mean", "seeds": "loss.num_seeds"}
    csv |= {name: f"loss.{name}" for name in ("low", "high", "deviation")}
    csv |= named("parameters", "effective_parameters", "trained_parameters", "compression")
    csv |= named("bits_per_byte", "step_ms", "memory_mb", "flops", "device")
    return Table(rows, with_values(rows, columns), csv)


def loss_view(selection: Selection) -> FigureView[Mark]:
    """The loss of every model: mean, interval and seeds."""
    marks = []
    for row in selection.rows():
        marks.append(_mark(row, **of_summary(row.loss)))
        if row.loss.num_seeds > 1:  # a single run is its own mean
            seeds = zip(row.loss.seeds, row.loss.values, strict=True)
            marks += [_mark(row, seed=seed, value=loss, size="small") for seed, loss in seeds]
    missing = f"no run of {selection.group.name} has the final number {selection.metric!r}"
    if selection.source == "published":
        missing = f"nothing was published for {selection.group.name}: choose published-1000 or published-3000"
    return FigureView(
        name="loss",
        title=f"{_metric_title(selection)} by model",
        form="list",
        runs=selection.group.name,
        points=marks,
        csv=WHO | {"seed": "seed", "loss": "value", "low": "low", "high": "high"},
        x_label=loss_label(selection.metric, selection.group.unit),
        missing="" if marks else missing,
    )


# What a model costs: in words, and what a figure of it needs.
COSTS: dict[str, tuple[str, str]] = {
    "parameters": ("stored parameters", "a parameter count"),
    "flops": ("training operations per byte (FLOPs)", "a count of operations"),
    "step_ms": ("ms per training step", "a measured time on the same device"),
}


def parameters_view(selection: Selection) -> FigureView[Mark]:
    """Loss against what a model costs: stored parameters, operations, or measured time on the most usual device.

    Of runs that began at a checkpoint, the parameters are those that were trained.
    """
    if selection.against not in COSTS:
        raise ValueError(f"against={selection.against!r:.80} is not one of {', '.join(COSTS)}")
    words, needed = COSTS[selection.against]
    field = selection.against
    if field == "parameters" and any(row.trained_parameters for row in selection.rows()):
        field, words = "trained_parameters", "trained parameters"
    rows = [row for row in selection.rows() if getattr(row, field)]
    if selection.against == "step_ms" and rows:
        # Times of different devices cannot be compared.
        device = Counter(row.device for row in rows).most_common(1)[0][0]
        rows, words = [row for row in rows if row.device == device], f"{words} on {device}"
    marks = [_mark(row, at=getattr(row, field), **of_summary(row.loss)) for row in rows]
    csv = WHO | {"seeds": "num_seeds", field: "at", "loss": "value", "low": "low", "high": "high"}
    return FigureView(
        name=f"loss_against_{selection.against}",
        title=f"{_metric_title(selection)} against {words}",
        form="plane",
        runs=selection.group.name,
        points=with_front(marks),
        csv=csv | {"on_pareto_front": "is_on_front"},
        x_label=words,
        y_label=loss_label(selection.metric, selection.group.unit),
        missing="" if len(marks) > 1 else f"loss against {words} needs two models with {needed}",
        is_count=selection.against != "step_ms",
        has_front=True,
    )


def step_time_view(selection: Selection) -> FigureView[Mark]:
    """Milliseconds per training step, a panel for every device: they cannot be compared across devices."""
    rows = [row for row in selection.rows() if row.step_ms]
    devices = list(dict.fromkeys(row.device for row in rows))
    rows.sort(key=lambda row: devices.index(row.device))
    marks = [_mark(row, value=row.step_ms, text=f"{row.step_ms:.1f} ms", panel=row.device) for row in rows]
    return FigureView(
        name="step_time",
        title="Time per training step",
        form="list",
        runs=selection.group.name,
        points=marks,
        csv=WHO | {"device": "panel", "step_ms": "value"},
        x_label="ms per training step",
        missing="" if marks else "step time needs runs that recorded it",
    )


def _mark(row: ResultRow, **values: Any) -> Mark:
    title = f"{row.title}, published" if row.is_published else row.title
    return Mark(label=row.label, title=title, kind=row.kind, source=row.source, **values)


def _metric_title(selection: Selection) -> str:
    return "Validation loss" if selection.metric == LOSS else selection.metric
