"""What a loop is worth: one block that is read several times against several blocks of their own."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tipshare.kinds import title_of
from training.results.formatting import show_mean
from training.results.groups import find_group
from training.results.records import RunRecord
from training.results.summaries import LOSS, Summary, summarise, summarise_runs
from training.results.views.elastic import own_steps
from training.results.views.table import Column, Table

LOOPS = "loops-1000"
OWN_BLOCKS = re.compile(r"own \+ ssm, (\d+) layers?")


@dataclass(frozen=True)
class LoopWorth:
    """What a block that is read several times is worth in blocks of their own.

    Attributes:
        loops: How often the block is read.
        blocks: How many blocks of their own reach its loss, over the seeds.
        phi: The exponent: r loops are worth r ** phi blocks (arXiv 2604.21106), over the seeds.
    """

    label: str
    loops: int
    loss: Summary
    blocks: Summary
    phi: Summary


def loop_worths(records: Sequence[RunRecord]) -> list[LoopWorth]:
    """The worth of every shared block, by seed; of none where too few numbers of blocks were trained.

    The loss of blocks of their own is read between two numbers of blocks on the straight line over the logarithm of
    that number. A seed whose shared block is outside of what the blocks reached tells nothing and is left out.
    """
    all_runs = _runs(records)
    own = _own_blocks(all_runs)
    worths = []
    for label in (each for each in all_runs if each not in own):
        loops, known = own_steps(all_runs[label][0]), {}
        for run in all_runs[label] if loops > 1 else ():
            pairs = [(count, other) for name, count in own.items() for other in all_runs[name]]
            others = {count: other.final[LOSS] for count, other in pairs if other.seed == run.seed}
            blocks = _blocks_with(run.final[LOSS], others)
            if blocks is not None:
                known[run.seed] = (run.final[LOSS], blocks, math.log(blocks) / math.log(loops))
        if known:
            losses, blocks, phi = (summarise(each, list(known)) for each in zip(*known.values(), strict=True))
            worths.append(LoopWorth(label, loops, losses, blocks, phi))
    return worths


def _blocks_with(loss: float, losses: Mapping[int, float]) -> float | None:
    """The number of blocks that reach a loss; None outside of the losses that are known."""
    counts = sorted(losses, reverse=True)
    known = [losses[count] for count in counts]
    if len(counts) < 2 or sorted(known) != known or not known[0] <= loss <= known[-1]:
        return None
    return float(np.exp(np.interp(loss, known, np.log(counts))))


def loops_table(records: Sequence[RunRecord]) -> Table:
    """What every shared block is worth, with intervals over the seeds."""
    columns = [
        Column("label", "one shared block", title_of, is_text=True),
        Column("loops", "read so often"),
        Column("loss", "loss (nats/byte)", show_mean),
        Column("blocks", "worth so many blocks", show_mean),
        Column("phi", "phi", show_mean),
        Column("phi.num_seeds", "seeds"),
    ]
    return Table(loop_worths(records), columns)


def own_blocks_table(records: Sequence[RunRecord]) -> Table:
    """Loss by the number of blocks of their own."""
    runs = _runs(records)
    rows = [
        {"blocks": count, "run": runs[label][0], "loss": summarise_runs(runs[label])}
        for label, count in _own_blocks(runs).items()
    ]
    columns = [
        Column("blocks", "blocks of their own"),
        Column("run.parameters.total", "parameters", ","),
        Column("loss", "loss (nats/byte)", show_mean),
        Column("loss.num_seeds", "seeds"),
    ]
    return Table(sorted(rows, key=lambda row: row["blocks"]), columns)


def _runs(records: Sequence[RunRecord]) -> Mapping[str, tuple[RunRecord, ...]]:
    group = find_group(records, LOOPS)
    return group.runs if group else {}


def _own_blocks(labels: Iterable[str]) -> dict[str, int]:
    """The models with blocks of their own, and how many they have."""
    return {label: int(match[1]) for label in labels if (match := OWN_BLOCKS.fullmatch(label))}
