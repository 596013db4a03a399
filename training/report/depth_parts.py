"""What the docs say of depth and size: drawn depths, their price and speed, early exit, fronts, worth of a loop."""

from pathlib import Path

from training.report.parts import NOT_YET, Records, join, read_reports
from training.report.readme_figures import picture
from training.results.views.depth_reports import depths_table, early_exit_in_words, early_exit_table, report_in_words
from training.results.views.elastic import (
    elastic_table,
    gains_of_gates,
    pairs_table,
    prices,
    prices_of_features,
    reach_table,
)
from training.results.views.elastic_words import gates_in_words, price_in_words, reach_in_words
from training.results.views.loops import loop_worths, loops_table, own_blocks_table
from training.results.views.scaling import scaling_group, scaling_table
from training.results.views.table import Table

DEPTHS = "depth-"


def fixed_and_drawn(records: Records) -> str:
    """Loss at many depths of models trained at one depth and at drawn ones."""
    table = elastic_table(records)
    return join(picture("elastic.png", records), table) if table.rows else NOT_YET


def price(records: Records) -> str:
    """What drawn depths cost at the model's own number of depth steps."""
    return _told(price_in_words(records), pairs_table(prices(records), "drawn minus fixed"))


def reach(records: Records) -> str:
    """How far from its own depth a model can be read."""
    return _told(reach_in_words(records), reach_table(records))


def gates(records: Records) -> str:
    """What gates on t add to one shared block at several depths."""
    return _told(gates_in_words(records), pairs_table(gains_of_gates(records), "gated minus tied"))


def features(records: Records) -> str:
    """What other features of t, and no dt, cost."""
    return _told("", pairs_table(prices_of_features(records), "changed minus usual"))


def depth_speed(folder: Path) -> str:
    """Loss and speed of checkpoints by depth steps, with the front of all marked."""
    parts: list[str | Table] = []
    for report in read_reports(folder, DEPTHS):
        parts += [report_in_words(report), depths_table(report)]
    return join(picture("depth-speed.png", (), folder), *parts) if parts else NOT_YET


def early_exit(folder: Path) -> str:
    """What stopping at a depth where predictions agree would save."""
    parts: list[str | Table] = []
    for report in (each for each in read_reports(folder, DEPTHS) if each["early_exit"]):
        parts += [early_exit_in_words(report), early_exit_table(report)]
    return join(*parts) if parts else NOT_YET


def scaling(records: Records) -> str:
    """Loss of four kinds at several sizes."""
    group = scaling_group(records)
    if group is None:
        return NOT_YET
    pictures = [picture(f"{name}.png", records) for name in ("scaling", "scaling-flops")]
    return join(*pictures, scaling_table(group))


def loops(records: Records) -> str:
    """What a block that is read several times is worth."""
    worths = loop_worths(records)
    return join(loops_table(worths), own_blocks_table(records)) if worths else NOT_YET


def _told(words: str, table: Table) -> str:
    return join(words, table) if table.rows else NOT_YET
