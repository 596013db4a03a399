"""Figures of comparisons: every pair of models, the grid of choices, the number of depth steps."""

import plotly.graph_objects as go

from app.plot_style import DARK_TEXT, SEQUENTIAL, SYMBOLS, new_figure, plain, wrap_words
from app.results.data import Choice
from app.results.figures import LOSS_AXIS
from tipshare.kinds import colour_of, mark_of, title_of
from training.report.figure_style import MissingDataError
from training.report.grid_figures import (
    FEWEST_CELLS,
    HIGHER,
    LOWER,
    MIXERS,
    OPEN,
    WEIGHTS,
    grid_cells,
    losses_at_steps,
    trained_depths,
)
from training.report.tables import count_in_words, show_p
from training.results.groups import RunGroup
from training.results.significance import Comparison, compare_group
from training.results.wording import significance_in_words

# More pairs than this get no text in their cells, only on hover.
MOST_LABELS = 9


def draw_significance(choice: Choice) -> go.Figure:
    """Row minus column for every pair of models, with the corrected p-value and the effect size."""
    if choice.source == "published":
        raise MissingDataError(
            "tests need single runs of ours: switch to measured; what was published stands in the notes"
        )
    pairs = compare_group(choice.group)
    if not any(each.test for each in pairs):
        raise MissingDataError("one seed has no spread to test: this needs two models with at least two seeds each")
    labels = list(dict.fromkeys(label for each in pairs for label in (each.first, each.second)))
    rows, columns = labels[1:], labels[:-1]
    verdicts: list[list[float | None]] = [[None] * len(columns) for _ in rows]
    texts, hovers = ([[""] * len(columns) for _ in rows] for _ in range(2))
    for pair in pairs:
        row, column = rows.index(pair.second), columns.index(pair.first)
        verdicts[row][column] = _verdict(pair)
        texts[row][column] = _cell(pair) if len(labels) <= MOST_LABELS else ""
        hovers[row][column] = wrap_words(significance_in_words(pair), 56)
    figure = new_figure(130 + 66 * len(rows), legend=False)
    figure.add_heatmap(
        z=verdicts,
        x=[_short(title_of(each)) for each in columns],
        y=[_short(title_of(each)) for each in rows],
        text=texts,
        customdata=hovers,
        texttemplate="%{text}",
        textfont={"color": DARK_TEXT, "size": 11},
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        colorscale=[[0, LOWER], [0.33, LOWER], [0.33, OPEN], [0.67, OPEN], [0.67, HIGHER], [1, HIGHER]],
        zmin=-1,
        zmax=1,
        xgap=3,
        ygap=3,
        showscale=False,
    )
    figure.update_xaxes(type="category", showgrid=False, tickangle=0, tickfont={"size": 10})
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed")
    return figure


def grid_group(choice: Choice) -> RunGroup:
    """The runs whose grid of weights and mixers is shown: the chosen ones if they fill enough cells of it."""

    def filled(group: RunGroup) -> int:
        cells = len(grid_cells(group))
        return cells if cells >= FEWEST_CELLS else 0

    group = choice.group_with(filled)
    if group is None:
        raise MissingDataError(
            f"no runs fill {FEWEST_CELLS} of the {len(WEIGHTS) * len(MIXERS)} cells of the grid: weights (own, "
            "generated, gated, tied) by mixer (MLP, state space)"
        )
    return group


def depth_group(choice: Choice) -> RunGroup:
    """The runs that are shown by depth steps: the chosen ones if they were read, or trained, with several numbers."""

    def lines(group: RunGroup) -> int:
        read = sum(len(losses_at_steps(group, label)) > 1 for label in group.labels)
        return read + len(trained_depths(group, "valid_loss"))

    group = choice.group_with(lines)
    if group is None:
        raise MissingDataError("no run was read with other numbers of depth steps, and none was trained with them")
    return group


def draw_ablation_grid(choice: Choice) -> go.Figure:
    """The loss by where weights come from and what follows attention."""
    group = grid_group(choice)
    cells = grid_cells(group)
    losses: list[list[float | None]] = []
    texts: list[list[str]] = []
    for weights in WEIGHTS:
        found = [cells.get((weights, mixer)) for mixer in MIXERS]
        losses.append([None if cell is None else -cell[1].mean for cell in found])
        texts.append(["" if cell is None else _grid_cell(group, *cell) for cell in found])
    figure = new_figure(360, legend=False)
    figure.add_heatmap(
        z=losses,
        x=["MLP", "state space"],
        y=list(WEIGHTS),
        text=texts,
        texttemplate="%{text}",
        textfont={"color": DARK_TEXT, "size": 11},
        hoverinfo="text",
        hoverongaps=False,
        colorscale=SEQUENTIAL,
        xgap=3,
        ygap=3,
        showscale=False,
    )
    figure.update_xaxes(type="category", showgrid=False, title=f"what follows attention<br>{_recipe(group)}")
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed", title="weights at depth t")
    return figure


def draw_depth_steps(choice: Choice) -> go.Figure:
    """Loss against depth steps: trained weights run at other depths, and models trained at each depth."""
    group = depth_group(choice)
    figure = new_figure(360)
    for label in group.labels:
        points = losses_at_steps(group, label)
        if len(points) > 1:
            usual = group.config_of(label).num_layers
            sizes = [14 if depth == usual else 8 for depth in points]
            _depth_line(figure, points, group.kind_of(label), title_of(label), "solid", sizes)
    for kind, points in trained_depths(group, "valid_loss").items():
        _depth_line(figure, points, kind, f"{title_of(kind)}, trained at each depth", "dash", [8] * len(points))
    figure.update_xaxes(title=f"depth steps (larger mark: as trained)<br>{_recipe(group)}")
    figure.update_yaxes(title=LOSS_AXIS)
    return figure


def _recipe(group: RunGroup) -> str:
    """The name of runs under a figure, a line for every change of a recipe."""
    return f"({plain(group.name).replace('+', '<br>+ ')})"


def _verdict(pair: Comparison) -> float:
    """-1 where the row (the second model) is significantly lower, 1 where it is higher."""
    if not pair.is_significant:
        return 0.0
    return -1.0 if pair.difference > 0 else 1.0


def _cell(pair: Comparison) -> str:
    tested = f"p {show_p(pair.p_holm)}" if pair.p_holm is not None else "no test"
    size = f"<br>g {-pair.effect.hedges_g:+.1f}" if pair.effect is not None else ""
    return f"<b>{-pair.difference:+.3f}</b><br>{tested}{size}"


def _short(title: str) -> str:
    """A model's title with a line for every word or two, for narrow cells."""
    return wrap_words(title, 8)


def _grid_cell(group: RunGroup, label: str, summary) -> str:
    total = group.runs[label][0].parameters.get("total")
    reach = f" ± {summary.half_width:.3f}" if summary.half_width is not None else ""
    size = f"<br>{count_in_words(total)} parameters" if total else ""
    name = (
        "" if label == f"{group.config_of(label).weights} + {group.config_of(label).mixer}" else plain(title_of(label))
    )
    return f"<b>{summary.mean:.3f}</b>{reach}{'<br>' + name if name else ''}{size}"


def _depth_line(figure: go.Figure, points: dict, kind: str, name: str, dash: str, sizes: list[int]) -> None:
    reach = [each.half_width or 0.0 for each in points.values()]
    figure.add_scatter(
        x=list(points),
        y=[each.mean for each in points.values()],
        error_y={"type": "data", "array": reach} if any(reach) else None,
        mode="lines+markers",
        line={"color": colour_of(kind), "width": 2, "dash": dash},
        marker={"size": sizes, "symbol": SYMBOLS[mark_of(kind)]},
        name=plain(name),
        hovertemplate="%{x} depth steps: %{y:.3f}<extra></extra>",
    )
