"""What `python -m training depth` measured: loss, speed and early exit, by the number of depth steps."""

from collections.abc import Mapping, Sequence
from typing import Any

from tipshare.kinds import title_of
from training.results.views.figure import FigureView, Mark, cut_off, with_front
from training.results.views.table import Column, Table, named

# Nats per byte that stopping early may cost.
SMALL_PRICE = 0.01

# As `python -m training depth` writes it.
Report = Mapping[str, Any]


def depths_table(report: Report) -> Table:
    """Loss and speed of one checkpoint by depth steps; the best loss is bold."""
    rows = report["depths"]
    lowest = min(row["loss"] for row in rows)
    own_row = _own_row(report)
    shown = [
        {
            **row,
            "first_byte_ms": 1e3 * row["first_byte_seconds"],
            "speed": own_row and row["bytes_per_second"] / own_row["bytes_per_second"],
            "reading": own_row and own_row["first_byte_seconds"] / row["first_byte_seconds"],
            "front": "yes" if front else "",
        }
        for row, front in zip(rows, _on_front([report]), strict=True)
    ]
    own = f"against {report['own_depth_steps']} depth steps"
    columns = [
        Column("depth_steps", "depth steps"),
        Column("block_evaluations", "block evaluations"),
        Column("loss", "loss (nats/byte)", ".3f", is_best=lambda row: row["loss"] == lowest),
        Column("bytes_per_second", "bytes/s", ",.0f"),
        Column("speed", own, "{:.2f}x".format),
        Column("first_byte_ms", "first byte (ms)", ".1f"),
        Column("reading", own, "{:.2f}x".format),
        Column("front", "on the front", is_text=True),
    ]
    csv = named("depth_steps", "block_evaluations", "loss", "bytes_per_second", "first_byte_seconds", "front")
    return Table(shown, columns, csv, missing="")


def early_exit_table(report: Report) -> Table:
    """What stopping early would give at best."""
    columns = [
        Column("limit", "stop below (nats)", "g"),
        Column("average_depth", "average depth", ".2f"),
        Column("loss", "loss (nats/byte)", ".3f"),
        Column("price", "price", "+.3f"),
        Column("saved", "operations saved", "{:.0%}".format),
    ]
    return Table(_exits(report), columns, missing="")


def early_exit_in_words(report: Report) -> str:
    """The most that stopping early saves at a price that most would pay, by count of operations."""
    cheap = [row for row in _exits(report) if row["price"] is not None and row["price"] <= SMALL_PRICE]
    best = max(cheap, key=lambda row: row["saved"], default=None)
    if best is None or best["saved"] <= 0:
        return f"{_title(report)}: no limit saves operations at a price of at most {SMALL_PRICE:g} nats per byte."
    return (
        f"{_title(report)}: at a price of at most {SMALL_PRICE:g} nats per byte, stopping below {best['limit']:g} nats "
        f"uses {best['average_depth']:.2f} of {report['own_depth_steps']} depth steps on average and saves "
        f"{best['saved']:.0%} of the operations."
    )


def _exits(report: Report) -> list[dict[str, Any]]:
    """Every limit of stopping early, with what it costs in nats per byte and what it saves of the operations."""
    own = _own_row(report)
    return [
        {**row, "price": own and row["loss"] - own["loss"], "saved": 1 - row["share_of_operations"]}
        for row in report["early_exit"]
    ]


def _own_row(report: Report) -> Mapping[str, Any] | None:
    """What was measured at the model's own number of depth steps, if it was."""
    return next((row for row in report["depths"] if row["depth_steps"] == report["own_depth_steps"]), None)


def report_in_words(report: Report) -> str:
    """Which checkpoint was measured, and how."""
    drawn = report["drawn_depth_steps"]
    trained = f"drawn depth steps {', '.join(map(str, drawn))}" if drawn else f"{report['own_depth_steps']} depth steps"
    solver = "" if report["solver"] == "euler" else f", solver {report['solver']}"
    return (
        f"{_title(report)}, trained at {trained}{solver}. Loss on {report['num_windows']} windows of "
        f"{report['context']} bytes of {report['corpus']}; batch 1 on {report['machine']['device']}; medians of "
        f"{report['rounds']} rounds."
    )


def measured_loss_view(report: Report) -> FigureView[Mark]:
    """Loss against depth steps."""
    marks = [
        _mark(report, row, row["depth_steps"], row["depth_steps"] == report["own_depth_steps"])
        for row in report["depths"]
    ]
    return _view(
        [report], marks, "depth_loss", "Loss against depth steps", "depth steps (larger mark: the model's own)"
    )


def speed_view(reports: Sequence[Report]) -> FigureView[Mark]:
    """Loss against bytes per second, with the front of all reports marked."""
    marks = [
        _mark(report, row, row["bytes_per_second"], is_large)
        for (report, row), is_large in zip(_rows(reports), _on_front(reports), strict=True)
    ]
    label = "bytes per second (numbers: depth steps; larger mark: on the front)"
    return _view(reports, marks, "depth_speed", "Loss against speed of generation", label)


def _rows(reports: Sequence[Report]) -> list[tuple[Report, Mapping[str, Any]]]:
    return [(report, row) for report in reports for row in report["depths"]]


def _on_front(reports: Sequence[Report]) -> list[bool]:
    """Whether each row is on the front: no other is as fast and as good, and better in one of the two."""
    marks = [_mark(report, row, -row["bytes_per_second"], is_large=False) for report, row in _rows(reports)]
    return [mark.is_on_front for mark in with_front(marks)]


def _title(report: Report) -> str:
    name, kind = report["checkpoint"], title_of(report["kind"])
    return kind if name == report["kind"] else f"{name} ({kind})"


def _mark(report: Report, row: Mapping[str, Any], at: float, is_large: bool) -> Mark:
    return Mark(
        label=report["checkpoint"],
        title=_title(report),
        kind=report["kind"],
        at=at,
        value=row["loss"],
        text=str(row["depth_steps"]),
        size="large" if is_large else "usual",
        line=0,
    )


def _view(reports: Sequence[Report], marks: list[Mark], name: str, title: str, x_label: str) -> FigureView[Mark]:
    own = [row["loss"] for report, row in _rows(reports) if row["depth_steps"] == report["own_depth_steps"]]
    return FigureView(
        name=name,
        title=title,
        form="plane",
        runs=", ".join(map(_title, reports)),
        points=marks,
        csv={
            "checkpoint": "label",
            "depth_steps": "text",
            x_label.partition(" (")[0].replace(" ", "_"): "at",
            "loss": "value",
        },
        x_label=x_label,
        **cut_off(marks, own),
        missing="" if marks else "no checkpoint was measured",
        names_marks=name == "depth_speed",
    )
