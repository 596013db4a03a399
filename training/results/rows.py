"""The rows of the results table: one model each, measured here or published."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Literal, get_args

from tipshare.config import ModelConfig, StandardConfig
from tipshare.kinds import title_of
from tipshare.model.parameters import count_parameters
from training.results.groups import RunGroup, devices_of
from training.results.published import PublishedExperiment, PublishedResult, published_for
from training.results.records import RunRecord
from training.results.summaries import LOSS, Summary, summarise, summarise_group
from training.results.units import SIZES

Source = Literal["measured", "published", "both"]
BASELINE = "standard"


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """One line of the results table.

    Attributes:
        group: The runs that the row belongs to, or stands beside.
        source: `measured` here, or `published`.
        label: The model's label in the records; the kind for published rows.
        parameters: Parameters stored.
        plain: Parameters of a plain transformer of the same width, depth, vocabulary and context.
        loss: The metric over seeds. Published spreads are recomputed from the published losses, with n-1.
        bits_per_byte: As recorded, or the metric in bits where that is a loss.
        flops: Operations of training per byte, counted from the config.
        step_ms: Median over runs of the median training step.
        device: What the runs ran on; step times of different devices cannot be compared.
        effective_parameters: Parameters that one pass reads: the weights of all depth steps, without the networks
            behind them.
        trained_parameters: Parameters that the run trained, if it began at a checkpoint.
        memory_mb: What one compiled training step takes: weights, optimizer state and temporaries.
    """

    group: RunGroup
    source: Literal["measured", "published"]
    label: str
    title: str
    kind: str
    parameters: int | None
    plain: int
    loss: Summary
    bits_per_byte: float | None
    step_ms: float | None
    device: str
    effective_parameters: int | None = None
    trained_parameters: int | None = None
    memory_mb: float | None = None
    flops: float | None = None
    metric: str = LOSS

    @property
    def is_published(self) -> bool:
        return self.source == "published"

    @property
    def compression(self) -> float | None:
        """How many times smaller than the plain transformer; below 1 for a model that stores more."""
        return self.plain / self.parameters if self.parameters else None


def result_rows(group: RunGroup, *, metric: str = LOSS, source: Source = "measured") -> list[ResultRow]:
    """The rows of a group, then what was published for its recipe of the kinds in the group.

    Published numbers are validation losses, so they have no place beside other metrics.
    """
    if source not in get_args(Source):
        raise ValueError(f"source={source!r} is not one of {', '.join(get_args(Source))}")
    rows = []
    if source != "published":
        rows += [_measured(group, label, summary, metric) for label, summary in summarise_group(group, metric).items()]
    experiment = published_for(group.recipe)
    if source != "measured" and experiment and metric == LOSS:
        rows += [_published(group, each, experiment) for each in experiment.results if each.kind in group.kinds]
    return rows


@cache
def plain_parameters(config: ModelConfig) -> int:
    """Parameters of a plain transformer with the sizes of a config: what compression is counted against."""
    sizes = ("num_layers", "hidden_dim", "num_heads", "vocab_size", "max_position_embeddings", "positions")
    return count_parameters(StandardConfig(**{name: getattr(config, name) for name in sizes})).total


def step_memory(run: RunRecord) -> float | None:
    """Megabytes of one training step. The peak of a process will not do: it includes all that ran in it before."""
    parts = [run.memory.get("step_argument_bytes"), run.memory.get("step_temporary_bytes")]
    return None if None in parts else sum(_present(parts)) / 1e6


def _measured(group: RunGroup, label: str, summary: Summary, metric: str) -> ResultRow:
    runs = group.runs[label]
    bits = _present([run.final.get("bits_per_byte") for run in runs])
    return ResultRow(
        group=group,
        source="measured",
        metric=metric,
        label=label,
        title=title_of(label),
        kind=group.kind_of(label),
        parameters=runs[0].parameters.get("total"),
        effective_parameters=runs[0].parameters.get("effective"),
        trained_parameters=runs[0].parameters.get("trained"),
        plain=plain_parameters(group.config_of(label)),
        loss=summary,
        bits_per_byte=sum(bits) / len(bits) if bits else _in_bits(summary, group) if "loss" in metric else None,
        step_ms=_over(median, [run.speed.get("step_ms") for run in runs]),
        memory_mb=_over(max, [step_memory(run) for run in runs]),
        flops=_over(median, [run.flops.get("training_per_token_formula") for run in runs]),
        device="; ".join(devices_of(runs)),
    )


def _published(group: RunGroup, result: PublishedResult, experiment: PublishedExperiment) -> ResultRow:
    size = SIZES[group.unit]
    if result.seed_losses:
        loss = summarise([each * size for each in result.seed_losses], experiment.seeds)
    else:
        mean = result.loss * size
        loss = Summary(seeds=(0,), values=(mean,), mean=mean, deviation=None, low=None, high=None)
    return ResultRow(
        group=group,
        source="published",
        label=result.kind,
        title=result.name,
        kind=result.kind,
        parameters=result.parameters,
        # All published models had the default sizes: 256 wide, 6 layers, 128 positions.
        plain=plain_parameters(StandardConfig()),
        loss=loss,
        bits_per_byte=_in_bits(loss, group),
        step_ms=result.step_ms,
        device=experiment.device,
    )


def _in_bits(loss: Summary, group: RunGroup) -> float:
    return loss.mean * SIZES["bits"] / SIZES[group.unit]


def _present(values: Sequence[float | None]) -> list[float]:
    return [each for each in values if each is not None]


def _over(reduce, values: Sequence[float | None]) -> float | None:
    """A reduction over the values that are there; `None` if there are none."""
    present = _present(values)
    return float(reduce(present)) if present else None
