"""What the Results tab does, as plain functions of records and of what was chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import plotly.graph_objects as go

from app.plot_style import words_figure
from app.results.data import (
    EVERY_CORPUS,
    all_groups,
    choose,
    corpora,
    default_group,
    default_labels,
    fitting,
    has_yours,
    is_yours,
)
from app.results.figures import draw
from app.results.tables import COLUMNS, dressed_table
from app.results.words import headline_html, message_html, notes_html, published_html, significance_html
from tipshare.kinds import title_of
from training.results.groups import RunGroup
from training.results.naming import in_sections, title_of_group
from training.results.rows import Source
from training.results.selection import Selection
from training.results.views import FIGURES

# Choices whose tables and figures are kept.
MOST_KEPT = 16


@dataclass(frozen=True)
class Controls:
    """What can be chosen now, and what is: label and value of every choice."""

    corpora: list[str]
    corpus: str
    groups: list[tuple[str, str]]
    group: str | None
    models: list[tuple[str, str]]
    chosen: list[str]


@dataclass(frozen=True)
class Results:
    """All that is shown of a choice; figures by name."""

    headline: str
    table: dict[str, Any]
    notes: str
    published: str
    significance: str
    figures: dict[str, go.Figure]


class Board:
    """What can be shown of some groups of runs; what was worked out for one choice is kept for the next visitor."""

    def __init__(self, groups: tuple[RunGroup, ...]) -> None:
        self.groups = groups
        self.show = lru_cache(maxsize=MOST_KEPT)(partial(show, groups))


@lru_cache(maxsize=1)
def bundled_board(groups: tuple[RunGroup, ...]) -> Board:
    """That of the bundled records, the same for all visitors."""
    return Board(groups)


def begin() -> tuple[Controls, str, dict[str, Any]]:
    """The choices, the headline and the table that the tab opens with; nothing if the records cannot be read."""
    try:
        groups = all_groups()
        chosen = control(groups, None, EVERY_CORPUS, None)
        selection = choose(groups, chosen.group, chosen.chosen)
    except ValueError:
        # What is wrong with them is said when the tab is opened.
        return Controls([], EVERY_CORPUS, [], None, [], []), "", {"headers": list(COLUMNS), "data": []}
    return chosen, headline_html(selection), dressed_table([selection])


def control(
    groups: Sequence[RunGroup],
    name: str | None,
    corpus: str,
    labels: Sequence[str] | None,
    *,
    show_uploaded: bool = False,
) -> Controls:
    """The choices that fit a corpus; what no longer exists falls back to the default.

    Args:
        labels: The models chosen so far; None for those to begin with, as for labels of another group's list.
        show_uploaded: Go to a visitor's own runs if the chosen group has none of them, and choose them there.
    """
    places = corpora(groups)
    corpus = corpus if corpus in places else EVERY_CORPUS
    offered = fitting(groups, corpus)
    group = next((each for each in offered if each.name == name), None)
    if show_uploaded and not (group and has_yours(group)):
        theirs = [each for each in groups if has_yours(each)]
        if theirs:
            corpus, offered = EVERY_CORPUS, list(groups)
            group, labels = default_group(theirs), None
    if group is None:
        group, labels = default_group(offered), None
    if group is None:
        return Controls([], EVERY_CORPUS, [], None, [], [])
    chosen = [label for label in group.labels if label in (labels or ()) or (show_uploaded and is_yours(label))]
    if labels is None or (labels and not chosen):
        chosen = default_labels(group)
    named = [(title_of_group(each), each.name) for each in in_sections(offered)]
    return Controls(places, corpus, named, group.name, [(title_of(label), label) for label in group.labels], chosen)


def show(
    groups: Sequence[RunGroup],
    name: str | None,
    labels: Sequence[str],
    source: Source,
    *,
    every_recipe: bool = False,
    corpus: str = EVERY_CORPUS,
    **how: Any,
) -> Results:
    """Everything the tab shows; what is missing is said in words where it would stand.

    Args:
        how: As `choose` takes them.
    """
    try:
        selection = choose(groups, name, labels, source=source, **how)
    except ValueError as error:
        words = str(error)[0].upper() + str(error)[1:] + "."
        nothing = {"headers": list(COLUMNS), "data": []}
        return Results(message_html(words), nothing, "", "", "", dict.fromkeys(FIGURES, words_figure(words)))
    return Results(
        headline=headline_html(selection),
        table=dressed_table(table_selections(selection, every_recipe, corpus)),
        notes=notes_html(selection),
        published=published_html(selection),
        significance=significance_html(selection),
        figures={figure: draw(view(selection)) for figure, view in FIGURES.items()},
    )


def table_selections(selection: Selection, every_recipe: bool, corpus: str) -> list[Selection]:
    """What the table is made of: the chosen models, and with `every_recipe` all other groups of the corpus too."""
    others = fitting(selection.others, corpus) if every_recipe else []
    rest = [replace(selection, group=each) for each in others if each.name != selection.group.name]
    return [selection, *rest]
