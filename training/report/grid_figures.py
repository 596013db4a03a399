"""Figures of comparisons: every pair of models, the grid of choices, the number of depth steps."""

import re

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from tipshare.config import KINDS
from tipshare.kinds import colour_of, mark_of, title_of
from training.report.figure_style import FAINT, MissingDataError, legend_below, new_axes
from training.report.tables import show_p
from training.results.groups import RunGroup
from training.results.significance import Comparison, compare_group
from training.results.summaries import LOSS, Summary, summarise_group, summarise_runs

# Blue for lower, orange for higher, as far apart for colour-blind readers as two colours get.
LOWER, HIGHER, OPEN = "#56B4E9", "#E69F00", "#F3F4F6"
WEIGHTS = ("own", "generated", "gated", "tied")
MIXERS = ("mlp", "ssm")
FEWEST_CELLS = 5
AT_STEPS = re.compile(r"^valid_loss_at_steps_(\d+)$")


def draw_significance(group: RunGroup, metric: str = LOSS) -> Figure:
    """Every pair of models: difference and corrected p-value."""
    pairs = compare_group(group, metric)
    if not any(each.test for each in pairs):
        raise MissingDataError("the significance matrix needs two models with at least two seeds each")
    labels = list(dict.fromkeys(label for each in pairs for label in (each.first, each.second)))
    cells = len(labels) - 1
    figure, axes = new_axes(
        f"Difference, row minus column, {group.name}", width=max(4.8, 2.4 + 0.95 * cells), height=2.0 + 0.7 * cells
    )
    for pair in pairs:
        row, column = labels.index(pair.second), labels.index(pair.first)
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=_verdict_colour(pair), edgecolor="white"))
        p_value = f"p = {show_p(pair.p_holm)}" if pair.p_holm is not None else "no test"
        axes.text(column, row, f"{-pair.difference:+.3f}\n{p_value}", ha="center", va="center", fontsize=8)
    axes.set_xlim(-0.5, len(labels) - 1.5)
    axes.set_ylim(len(labels) - 0.5, 0.5)
    axes.set_xticks(range(len(labels) - 1), [title_of(each) for each in labels[:-1]], rotation=30, ha="right")
    axes.set_yticks(range(1, len(labels)), [title_of(each) for each in labels[1:]])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    meanings = ((LOWER, "row lower, p < 0.05"), (HIGHER, "row higher, p < 0.05"), (OPEN, "not significant"))
    handles = [Patch(facecolor=colour, edgecolor=FAINT, label=meaning) for colour, meaning in meanings]
    legend_below(figure, handles, title="p after Holm's correction")
    return figure


def _verdict_colour(pair: Comparison) -> str:
    if not pair.is_significant:
        return OPEN
    return LOWER if pair.difference > 0 else HIGHER


def draw_ablation_grid(group: RunGroup, metric: str = LOSS) -> Figure:
    """Where weights come from, by what follows attention: the loss of every cell of the grid."""
    cells = grid_cells(group, metric)
    if len(cells) < FEWEST_CELLS:
        raise MissingDataError(
            f"the ablation grid needs {FEWEST_CELLS} of its {len(WEIGHTS) * len(MIXERS)} cells, not {len(cells)}"
        )
    means = [summary.mean for _, summary in cells.values()]
    figure, axes = new_axes(f"Loss by weights and mixer, {group.name}", width=5.2, height=4.4)
    for row, weights in enumerate(WEIGHTS):
        for column, mixer in enumerate(MIXERS):
            corner = (column - 0.5, row - 0.5)
            if (weights, mixer) not in cells:
                axes.add_patch(Rectangle(corner, 1, 1, facecolor="white", edgecolor=FAINT, hatch="///"))
                continue
            label, summary = cells[weights, mixer]
            # The lowest loss is the darkest; never so dark that black text is hard to read.
            share = (max(means) - summary.mean) / ((max(means) - min(means)) or 1.0)
            shade = to_rgba(colour_of("time-indexed-mlp"), 0.08 + 0.5 * share)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=shade, edgecolor="white", linewidth=2))
            reach = summary.half_width
            spread = f" ± {reach:.3f}" if reach is not None else ""
            axes.text(column, row - 0.1, f"{summary.mean:.3f}{spread}", ha="center", va="center", fontsize=11)
            axes.text(column, row + 0.22, _beneath(group, label), ha="center", va="center", fontsize=7.5)
    axes.set_xlim(-0.5, len(MIXERS) - 0.5)
    axes.set_ylim(len(WEIGHTS) - 0.5, -0.5)
    axes.set_xticks(range(len(MIXERS)), [{"mlp": "MLP", "ssm": "state space"}[each] for each in MIXERS])
    axes.set_yticks(range(len(WEIGHTS)), WEIGHTS)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("what follows attention (darker: lower loss; hatched: not run)")
    axes.set_ylabel("weights at depth t")
    return figure


def grid_cells(group: RunGroup, metric: str = LOSS) -> dict[tuple[str, str], tuple[str, Summary]]:
    """The model of every cell (weights, mixer) and its summary.

    Several models may lie in one cell; the one that changes the fewest other fields of its kind stands for it.
    """
    cells: dict[tuple[str, str], tuple[str, Summary]] = {}
    changes: dict[tuple[str, str], int] = {}
    for label, summary in summarise_group(group, metric).items():
        config = group.config_of(label)
        cell = (config.weights, config.mixer)
        usual = KINDS[config.kind]().to_dict()
        changed = sum(value != usual[name] for name, value in config.to_dict().items())
        if cell[0] in WEIGHTS and changed < changes.get(cell, len(usual) + 1):
            cells[cell], changes[cell] = (label, summary), changed
    return cells


def _beneath(group: RunGroup, label: str) -> str:
    config = group.config_of(label)
    is_cell_name = label == f"{config.weights} + {config.mixer}"
    total = group.runs[label][0].parameters.get("total")
    size = f"{total / 1e6:.2f} M parameters" if total else ""
    return size if is_cell_name else f"{title_of(label)}\n{size}".strip()


def draw_depth_steps(group: RunGroup, metric: str = LOSS) -> Figure:
    """Loss against depth steps: of trained weights run at other depths, and of models trained at each depth."""
    rerun = {label: points for label in group.labels if len(points := losses_at_steps(group, label)) > 1}
    trained = trained_depths(group, metric)
    if not rerun and not trained:
        raise MissingDataError("loss against depth steps needs final numbers such as valid_loss_at_steps_12")
    figure, axes = new_axes(f"Loss against depth steps, {group.name}", height=4.0)
    handles = []
    for label, points in rerun.items():
        kind = group.kind_of(label)
        usual = group.config_of(label).num_layers
        _line(axes, points, kind, line="-")
        if usual in points:
            axes.plot([usual], [points[usual].mean], marker="o", markersize=13, color=colour_of(kind), fillstyle="none")
        handles.append(Line2D([], [], color=colour_of(kind), marker=mark_of(kind), label=title_of(label)))
    if rerun:
        ring = Line2D([], [], linestyle="", marker="o", markersize=11, color="grey", fillstyle="none")
        ring.set_label("depth it was trained with")
        handles.append(ring)
    for kind, points in trained.items():
        _line(axes, points, kind, line="--")
        name = f"{title_of(kind)}, trained at each depth"
        handles.append(Line2D([], [], color=colour_of(kind), marker=mark_of(kind), linestyle="--", label=name))
    depths = sorted({depth for points in [*rerun.values(), *trained.values()] for depth in points})
    axes.set_xticks(depths)
    axes.grid(True)
    axes.set_xlabel("depth steps")
    axes.set_ylabel("validation loss (nats per byte)")
    legend_below(figure, handles)
    return figure


def _line(axes, points: dict[int, Summary], kind: str, *, line: str) -> None:
    means = np.array([each.mean for each in points.values()])
    reach = np.array([each.half_width or 0.0 for each in points.values()])
    axes.errorbar(
        list(points),
        means,
        yerr=reach if reach.any() else None,
        color=colour_of(kind),
        marker=mark_of(kind),
        markersize=5,
        linestyle=line,
        capsize=2,
        linewidth=1.4,
    )


def losses_at_steps(group: RunGroup, label: str) -> dict[int, Summary]:
    """Loss at every number of depth steps that all runs of a model were read with."""
    runs = group.runs[label]
    common = set.intersection(*(set(run.final) for run in runs))
    found = sorted((int(match[1]), metric) for metric in common if (match := AT_STEPS.match(metric)))
    return {steps: summarise_runs(runs, metric) for steps, metric in found}


def trained_depths(group: RunGroup, metric: str) -> dict[str, dict[int, Summary]]:
    """By kind: loss by number of layers, where models of a kind differ in that alone."""
    found: dict[str, dict[str, dict[int, Summary]]] = {}
    for label, summary in summarise_group(group, metric).items():
        config = group.config_of(label)
        rest = repr(config.replace(num_layers=1))
        found.setdefault(config.kind, {}).setdefault(rest, {})[config.num_layers] = summary
    best = {kind: max(families.values(), key=len) for kind, families in found.items()}
    return {kind: dict(sorted(points.items())) for kind, points in best.items() if len(points) > 1}
