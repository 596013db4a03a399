"""The tuned protocol at equal training time: records of losses, and step times that were measured in turns.

Step times in records cannot be compared: other programs ran beside them. `python -m training benchmark steps` measures
those of all models in turns.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tipshare.kinds import title_of
from training.results.formatting import show_p
from training.results.groups import find_group, group_records
from training.results.leading import TUNED
from training.results.records import RunRecord
from training.results.rows import BASELINE
from training.results.significance import Comparison
from training.results.summaries import LOSS, Summary, summarise, summarise_runs
from training.results.views.figure import FigureView, Mark, loss_label
from training.results.views.pairs import compare_all, pairs_table
from training.results.views.table import Column, Table

# As `python -m training benchmark steps` writes it.
Report = Mapping[str, Any]
# Recipes of the tuned protocol, and what may be changed in one whose rates are still those of the protocol.
PROTOCOLS, CHANGES = (TUNED, "tuned-3000"), {"num_steps", "batch_size", "evaluate_every"}
# Two runs took the same time if their times differ by less than this share.
SAME_TIME = 0.05


def step_times_table(report: Report) -> Table:
    """Milliseconds per training step at every batch size, relative to the plain transformer, and how many steps each
    model makes while that makes 1,000.
    """
    rows: list[dict[str, Any]] = []
    for label in dict.fromkeys(label for shape in report["shapes"] for label in shape["step_ms"]):
        row: dict[str, Any] = {"model": label}
        for shape in report["shapes"]:
            own, plain = shape["step_ms"].get(label), shape["step_ms"].get(BASELINE)
            row[_name(shape)] = {
                "ms": own,
                "ratio": own and plain and own / plain,
                "steps": own and plain and round(1_000 * plain / own),
            }
        rows.append(row)
    columns = [Column("model", "model", title_of, is_text=True)]
    for name in map(_name, report["shapes"]):
        columns.append(Column(f"{name}.ms", f"ms/step, {name}", ",.0f"))
        columns.append(Column(f"{name}.ratio", "relative to `standard`", ".2f"))
        columns.append(Column(f"{name}.steps", "steps in the time of 1,000 of `standard`", ","))
    return Table(rows, columns, missing="")


def finished_pairs(records: Sequence[RunRecord], report: Report) -> dict[tuple[str, str, int, int], Comparison]:
    """Runs that went to the end of their schedule in the same time as runs of the plain transformer.

    By batch size in words, model, and the training steps of both.
    """
    asked = {}
    for shape in report["shapes"]:
        lengths = _finished(records, shape["batch_size"])
        for (label, steps), runs in lengths.items():
            for plain_steps in (steps for name, steps in lengths if name == BASELINE) if label != BASELINE else ():
                own, plain = _minutes(shape, label, steps), _minutes(shape, BASELINE, plain_steps)
                if own and plain and abs(own / plain - 1) <= SAME_TIME:
                    plain_runs = lengths[BASELINE, plain_steps]
                    asked[_name(shape), label, steps, plain_steps] = summarise_runs(runs), summarise_runs(plain_runs)
    return compare_all(asked)


def curve_pairs(records: Sequence[RunRecord], report: Report) -> dict[tuple[str, str, int, int], Comparison]:
    """The curves of a model and of the plain transformer, read when the first of the two has finished."""
    asked = {}
    for shape in report["shapes"]:
        lengths = _finished(records, shape["batch_size"])
        whole = {label: runs for (label, steps), runs in lengths.items() if steps == 1_000}
        plain_ms = shape["step_ms"].get(BASELINE)
        for label in whole:
            own_ms = shape["step_ms"].get(label)
            if label == BASELINE or BASELINE not in whole or not own_ms or not plain_ms:
                continue
            end = 1_000 * min(own_ms, plain_ms)
            own_step, plain_step = end / own_ms, end / plain_ms
            two = _losses_at(whole[label], own_step), _losses_at(whole[BASELINE], plain_step)
            asked[_name(shape), label, round(own_step), round(plain_step)] = two
    return compare_all(asked)


def equal_time_in_words(pairs: Mapping[tuple[str, str, int, int], Comparison], label: str) -> str:
    """What one model reaches in the time of the plain transformer, at every batch size; empty if not measured."""
    told = []
    for (shape, name, steps, plain), pair in pairs.items():
        if name == label:
            side = "lower" if pair.difference < 0 else "higher"
            verdict = "significant" if pair.is_significant else "not significant"
            test = (
                f"{verdict}, p = {show_p(pair.p_holm)} over {pair.num_seeds} seeds"
                if pair.test
                else "one seed, no test"
            )
            told.append(
                f"At equal training time with batches of {shape} ({steps:,} of its steps, {plain:,} of "
                f"{title_of(BASELINE)}), {title_of(label)} is {abs(pair.difference):.3f} nats per byte {side} ({test})."
            )
    return " ".join(told)


def step_times_in_words(report: Report, label: str) -> str:
    """What a training step of one model takes relative to the plain transformer; empty if not measured."""
    told = [
        f"{step_ms[label] / step_ms[BASELINE]:.2f} of that of {title_of(BASELINE)} with batches of {_name(shape)}"
        for shape in report["shapes"]
        if (step_ms := shape["step_ms"]).keys() >= {label, BASELINE}
    ]
    return f"The time of a training step of {title_of(label)} is {' and '.join(told)}." if told else ""


def equal_time_table(pairs: Mapping[tuple[str, str, int, int], Comparison]) -> Table:
    """Model minus plain transformer after the same time."""
    asked = [
        Column("shape", "batch", is_text=True),
        Column("model", "model", title_of, is_text=True),
        Column("steps", "its steps", ","),
        Column("plain", "steps of `standard`", ","),
    ]
    return pairs_table(pairs, asked, "model minus `standard` (nats/byte)")


def time_view(records: Sequence[RunRecord], report: Report) -> FigureView[Mark]:
    """Learning curves of the tuned protocol (means over the seeds) against time, at the first batch size measured."""
    shape = next(iter(report.get("shapes", ())), {"step_ms": {}})
    group = find_group(records, TUNED)
    labels = [each for each in group.labels if shape["step_ms"].get(each)] if group else []
    marks = [
        Mark(
            label=label,
            title=title_of(label),
            kind=group.kind_of(label),
            at=_minutes(shape, label, step),
            value=float(np.mean(losses)),
            num_seeds=len(losses),
            line=sum(group.kind_of(each) == group.kind_of(label) for each in labels[:place]),
        )
        for place, label in enumerate(labels)
        if group
        for step, losses in _curve(group.runs[label])
    ]
    return FigureView(
        name="loss_against_time",
        title="Validation loss against training time",
        form="plane",
        runs=TUNED,
        points=marks,
        csv={"model": "label", "minutes": "at", "loss": "value", "seeds": "num_seeds"},
        x_label="minutes of training steps, from times measured in turns",
        y_label=loss_label(LOSS),
        missing="" if marks else f"no model of {TUNED} has both runs and a measured step time",
    )


def _finished(records: Sequence[RunRecord], batch_size: int) -> dict[tuple[str, int], tuple[RunRecord, ...]]:
    """Runs of the tuned protocol of any length, by model and training steps."""
    found: dict[tuple[str, int], tuple[RunRecord, ...]] = {}
    for group in group_records(records):
        base, *changes = group.recipe.split("+")
        if base in PROTOCOLS and {each.partition("=")[0] for each in changes} <= CHANGES:
            for label, runs in group.runs.items():
                if runs[0].settings.get("batch_size") == batch_size:
                    found.setdefault((label, group.num_steps), runs)
    return found


def _minutes(shape: Mapping[str, Any], label: str, steps: float) -> float:
    """What so many training steps take, from the measured time of one; 0 if that was not measured."""
    return shape["step_ms"].get(label, 0.0) * steps / 60e3


def _curve(runs: Sequence[RunRecord]) -> list[tuple[int, list[float]]]:
    """The losses of all runs at the training steps that all were evaluated at."""
    curves = [{int(step): loss for step, loss in run.curve} for run in runs]
    return [(step, [each[step] for each in curves]) for step in sorted(set.intersection(*map(set, curves)))]


def _losses_at(runs: Sequence[RunRecord], step: float) -> Summary:
    """The losses on the curves of runs, between two evaluations on the straight line that joins them."""
    curves = [np.array(run.curve) for run in runs]
    losses = [float(np.interp(step, curve[:, 0], curve[:, 1])) for curve in curves]
    return summarise(losses, [run.seed for run in runs])


def _name(shape: Mapping[str, Any]) -> str:
    return f"{shape['batch_size']} x {shape['length']}"
