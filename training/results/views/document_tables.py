"""Tables that only the documents show: published runs repeated, the bundled checkpoints, benchmarks."""

from collections.abc import Sequence
from typing import Any

from tipshare.kinds import title_of
from training.results.formatting import count_in_words
from training.results.groups import by_kind
from training.results.leading import usual_runs
from training.results.published import FIVE_SEEDS, LONGER_RUN
from training.results.records import RunRecord
from training.results.rows import step_memory
from training.results.summaries import depth_loss, losses_by_depth
from training.results.views.table import Column, Table, with_values

SHOWCASE = "showcase"
DEPTHS = (2, 3, 4, 6, 8, 12, 18)
WHOLE = "valid_loss_full"


def timeline_table(records: Sequence[RunRecord]) -> Table:
    """Validation loss at every published step of the longer run: ours, then the published ones."""

    def row(title: str, source: str, parameters: int | None, curve: Sequence[Sequence[float]]) -> dict[str, Any]:
        losses = {f"{step:.0f}": loss for step, loss in curve}
        return {"title": title, "source": source, "parameters": parameters, **losses}

    ours = by_kind(each for each in usual_runs(records) if each.recipe == LONGER_RUN.recipe)
    rows = [row(title_of(run.model), "measured", run.parameters["total"], run.curve) for run in ours]
    rows += [row(each.name, "published", each.parameters, each.curve) for each in LONGER_RUN.results]
    columns = [
        Column("title", "model", is_text=True),
        Column("source", "source", is_text=True),
        Column("parameters", "parameters", count_in_words),
        *(Column(str(step), f"step {step:,}", ".3f") for step, _ in LONGER_RUN.results[0].curve),
    ]
    return Table(rows, columns)


def shape_table(records: Sequence[RunRecord]) -> Table:
    """Kinds in the shape that was published for them beside the shape we recommend: size, loss, step and memory.

    Runs of fewer training steps tell what a step takes, and no loss.
    """
    short = FIVE_SEEDS.recipe
    runs: list[RunRecord] = []
    for run in by_kind(each for each in records if each.recipe.startswith(short) and not usual_runs([each])):
        usual = [each for each in records if (each.recipe, each.model, each.seed) == (short, run.kind, run.seed)]
        runs += [run, *usual]
    rows = [
        {"run": run, "loss": run.final["valid_loss"] if run.recipe == short else None, "memory": step_memory(run)}
        for run in runs
    ]
    columns = [
        Column("run.model", "model", title_of, is_text=True),
        Column("run.parameters.total", "parameters", ","),
        Column("loss", "loss after 1,000 steps", ".3f"),
        Column("run.speed.step_ms", "ms/step", ",.0f"),
        Column("memory", "memory of a step (MB)", ",.0f"),
        Column("run.machine.device", "on", is_text=True),
    ]
    return Table(rows, columns)


def showcase_table(records: Sequence[RunRecord]) -> Table:
    """Loss of every kind on the whole validation and test text, with its size and optimizer."""
    columns = [
        Column("model", "model", title_of, is_text=True),
        Column("parameters.total", "parameters", ","),
        Column("settings.optimizer", "optimizer", is_text=True),
        Column("settings.learning_rate", "learning rate", "g"),
        Column(f"final.{WHOLE}", "valid (nats/byte)", ".4f"),
        Column("final.test_loss_full", "test (nats/byte)", ".4f"),
        Column("final.test_bits_per_byte", "test (bits/byte)", ".3f"),
    ]
    return Table(_showcase(records), columns)


def showcase_in_words(records: Sequence[RunRecord]) -> str:
    """What the kinds reach on the whole validation text, from the lowest loss on, and at what size."""
    ranked = sorted((run for run in _showcase(records) if WHOLE in run.final), key=lambda run: run.final[WHOLE])
    if not ranked:
        return "Not trained yet."
    parts = [f"{title_of(run.model)} {run.final[WHOLE]:.3f} ({run.parameters['total'] / 1e6:.2f} M)" for run in ranked]
    return (
        f"After {ranked[0].tokens_seen / 1e6:.1f} million bytes, nats per byte on the whole validation text and "
        f"parameters, from the lowest loss on: {', '.join(parts)}. One seed each, and so without a test."
    )


def depth_table(records: Sequence[RunRecord]) -> Table:
    """Loss of the kinds whose weights are defined at every t, by the number of depth steps they are read with."""
    runs = [run for run in _showcase(records) if losses_by_depth(run.final)]
    columns = [Column("model", "depth steps", title_of, is_text=True)]
    columns += [Column(f"final.{depth_loss(steps)}", str(steps), ".3f") for steps in DEPTHS]
    return Table(runs, with_values(runs, columns))


def _showcase(records: Sequence[RunRecord]) -> list[RunRecord]:
    """The newest runs of the recipe, of every kind."""
    runs = [each for each in records if each.recipe == SHOWCASE]
    newest = max(runs, key=lambda run: run.finished, default=None)
    return by_kind(run for run in runs if newest and run.tokens_seen == newest.tokens_seen)


def machine_in_words(report: dict[str, Any]) -> str:
    """What a benchmark ran on, as far as its report tells, and what one large matrix product takes there."""
    machine = report.get("machine", {})
    words = f"On {machine.get('device', 'a processor that its report does not name')}"
    rate, torch_rate = (report.get(f"{prefix}matrix_product_operations_per_second") for prefix in ("", "torch_"))
    if rate is not None:
        words += f", where one large matrix product runs at {rate / 1e9:.0f} billion operations per second"
    if torch_rate is not None:
        words += f" in XLA and at {torch_rate / 1e9:.0f} in torch {machine['torch'].partition('+')[0]}"
    return f"{words}:"


def training_table(report: dict[str, Any]) -> Table:
    """Milliseconds per training step of every party, relative to torch and to `standard`."""
    columns = [
        Column("party", "training step", title_of, is_text=True),
        Column("step_ms", "ms", ".0f"),
        Column("time_over_plain torch", "time relative to plain torch", ".2f"),
        Column("time_over_standard", "time relative to `standard`", ".2f"),
        Column("share_of_matrix_product_rate", "share of matrix-product rate", lambda share: f"{100 * share:.0f} %"),
    ]
    return Table(_parties(report), columns, missing="")


def generation_table(report: dict[str, Any]) -> Table:
    """Bytes per second of every party alone and in a batch, relative to GPT-2; what late bytes and a start cost."""
    columns = [Column("party", "generation", title_of, is_text=True)]
    for batch, suffix in (("batch_1", ""), ("batch_16", ", batch 16")):
        columns.append(Column(f"{batch}.bytes_per_second", f"bytes/s{suffix}", ",.0f"))
        columns.append(Column(f"{batch}.ratio_to_gpt2", f"against GPT-2{suffix}", "{:.1f}x".format))
    columns.append(Column("cost_at_4000_over_200", "byte 4,000 over byte 200", ".2f"))
    columns.append(Column("first_byte_seconds.cold", "first byte, cold", "{:.1f} s".format))
    columns.append(Column("first_byte_seconds.warm_cache", "first byte, compiled before", "{:.1f} s".format))
    rows = _parties(report)
    # Without torch there is nothing to compare with.
    return Table(rows, with_values(rows, columns), missing="")


def other_depths_table(report: dict[str, Any]) -> Table:
    """Bytes per second of the models with a choice of depth steps, relative to their own number."""
    rows = [
        {"party": name, "steps": steps, **numbers}
        for name, depths in report.get("depths", {}).items()
        for steps, numbers in sorted(depths.items(), key=lambda each: int(each[0]))
    ]
    columns = [
        Column("party", "generation, batch 1", title_of, is_text=True),
        Column("steps", "depth steps"),
        Column("bytes_per_second", "bytes/s", ",.0f"),
        Column("writing_speed", "writing, relative to its own depth", "{:.2f}x".format),
        Column("reading_speed", "reading a prompt", "{:.2f}x".format),
    ]
    return Table(rows, columns, missing="")


def _parties(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"party": name, **numbers} for name, numbers in report["parties"].items()]
