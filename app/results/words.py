"""What the Results tab says in words, as HTML in which everything from records is escaped."""

import html
from collections.abc import Iterable

from app.results.data import Choice
from training.results.published import FAULTS, SOURCE, published_for
from training.results.significance import compare_group
from training.results.wording import headline_of, notes_on, significance_in_words


def headline_html(choice: Choice) -> str:
    """The headline of the chosen runs."""
    return f'<p class="headline">{html.escape(headline_of(choice.group))}</p>'


def message_html(words: str) -> str:
    """Why there is nothing to show."""
    return f'<p class="headline">{html.escape(words)}</p>'


def notes_html(choice: Choice) -> str:
    """What a reader of the table must know."""
    return _list(notes_on(choice.group))


def published_html(choice: Choice) -> str:
    """Why the published figures differ from ours; empty while only ours are shown."""
    if choice.source == "measured":
        return ""
    experiment = published_for(choice.group.recipe)
    if experiment is None:
        name = html.escape(choice.group.name)
        return f'<p class="finding">Nothing was published for {name}, so there is nothing to put beside it.</p>'
    pairs = "; ".join(f"{first} against {second} {p:.3g}" for (first, second), p in experiment.p_values.items())
    published = [f"Published p-values, without correction: {pairs}."] if pairs else []
    first, *others = FAULTS
    return (
        '<p class="finding"><em>Why the published figures differ.</em> Hollow marks and rows called published are '
        f"from {html.escape(SOURCE)}, run on one {html.escape(experiment.device)}; ours are measured here, with causal "
        f"models on fixed windows. {html.escape(first)}</p><details><summary>What else running the published code "
        f"showed</summary>{_list([*others, *experiment.caveats, *published])}</details>"
    )


def significance_html(choice: Choice) -> str:
    """Every pair of models in a sentence, and how to read the matrix."""
    pairs = compare_group(choice.group)
    if not pairs:
        return '<p class="finding">One model alone has nothing to be compared with.</p>'
    return (
        '<p class="finding">How to read the matrix: each cell is the loss of its row minus that of its column. '
        "<em>p</em> is corrected with Holm's method for all pairs shown; below 0.05 a cell is blue if the row is lower "
        "and orange if it is higher. <em>g</em> is Hedges' g, the difference in standard deviations between seeds.</p>"
        f'<div class="long-list">{_list(significance_in_words(pair) for pair in pairs)}</div>'
    )


def _list(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(each)}</li>" for each in sentences)
    return f'<ul class="findings">{items}</ul>' if items else ""
