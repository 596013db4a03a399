"""What the Results tab does, as plain functions of records and of what was chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.plot_style import words_figure
from app.results.comparison_figures import draw_ablation_grid, draw_depth_steps, draw_significance
from app.results.data import EVERY_CORPUS, Choice, Source, choose, default_group, default_labels, fitting
from app.results.figures import draw_learning_curves, draw_loss, draw_parameters, draw_step_time
from app.results.tables import table_rows
from app.results.words import headline_html, message_html, notes_html, published_html, significance_html
from tipshare.kinds import title_of
from training.report.figure_style import MissingDataError
from training.results.groups import RunGroup


@dataclass(frozen=True)
class Controls:
    """What can be chosen now, and what is: label and value of every choice."""

    groups: list[tuple[str, str]]
    group: str | None
    models: list[tuple[str, str]]
    chosen: list[str]


@dataclass(frozen=True)
class Results:
    """All that is shown of a choice; figures by name."""

    headline: str
    table: list[list[Any]]
    notes: str
    published: str
    significance: str
    figures: dict[str, go.Figure]


def control(groups: Sequence[RunGroup], name: str | None, corpus: str, labels: Sequence[str] | None) -> Controls:
    """The choices that fit a corpus; what no longer exists falls back to the default."""
    offered = fitting(groups, corpus)
    group = next((each for each in offered if each.name == name), None)
    if group is None:
        group, labels = default_group(offered), None
    if group is None:
        return Controls([], None, [], [])
    chosen = default_labels(group) if labels is None else [label for label in group.labels if label in labels]
    named = [(f"{each.name} ({each.num_steps:,} steps)", each.name) for each in offered]
    return Controls(named, group.name, [(title_of(label), label) for label in group.labels], chosen)


def show(
    groups: Sequence[RunGroup],
    name: str | None,
    labels: Sequence[str],
    source: Source,
    *,
    every_recipe: bool = False,
    corpus: str = EVERY_CORPUS,
    which: str = "validation",
    window: int = 1,
) -> Results:
    """Everything the tab shows; what is missing is said in words where it would stand."""
    try:
        choice = choose(groups, name, labels, source)
    except ValueError as error:
        words = str(error)[0].upper() + str(error)[1:] + "."
        return Results(message_html(words), [], "", "", "", dict.fromkeys(FIGURES, words_figure(words)))
    return Results(
        headline=headline_html(choice),
        table=table_rows(table_groups(choice, every_recipe, corpus), source),
        notes=notes_html(choice),
        published=published_html(choice),
        significance=significance_html(choice),
        figures={
            each: curves(choice, which, window) if each == "learning_curves" else drawn(choice, draw)
            for each, draw in FIGURES.items()
        },
    )


def table_groups(choice: Choice, every_recipe: bool, corpus: str) -> tuple[RunGroup, ...]:
    """The groups of the table: the chosen models, and with `every_recipe` all others of the corpus too."""
    others = fitting(choice.everything, corpus) if every_recipe else []
    return (choice.group, *(each for each in others if each.name != choice.group.name))


def curves(choice: Choice, which: str, window: int) -> go.Figure:
    """Learning curves, or why there are none."""
    return drawn(choice, lambda choice: draw_learning_curves(choice, which, window))


def drawn(choice: Choice, draw: Callable[[Choice], go.Figure]) -> go.Figure:
    """A figure, or in words why there is none."""
    try:
        return draw(choice)
    except MissingDataError as error:
        return words_figure(str(error)[0].upper() + str(error)[1:] + ".")


FIGURES: dict[str, Callable[[Choice], go.Figure]] = {
    "loss": draw_loss,
    "loss_against_parameters": draw_parameters,
    "learning_curves": draw_learning_curves,
    "step_time": draw_step_time,
    "significance": draw_significance,
    "ablation_grid": draw_ablation_grid,
    "depth_steps": draw_depth_steps,
}
