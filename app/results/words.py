"""What the Results tab says in words, as HTML in which everything from records is escaped."""

import html
from collections.abc import Iterable, Sequence

from app.style import finding, findings
from tipshare.kinds import title_of
from training.results.formatting import show_p
from training.results.published import FAULTS, SOURCE, published_for
from training.results.records import RunRecord
from training.results.selection import Selection
from training.results.significance import compare_group
from training.results.wording import headline_of, notes_on, significance_in_words


def headline_html(selection: Selection) -> str:
    """The headline of the chosen runs, or of what was published for them."""
    return message_html(headline_of(selection.group, source=selection.source))


def message_html(words: str) -> str:
    """A headline, or why there is nothing to show."""
    return f'<p class="headline">{html.escape(words)}</p>'


def notes_html(selection: Selection) -> str:
    """What a reader of the table must know."""
    return _escaped(notes_on(selection.group, source=selection.source))


def published_html(selection: Selection) -> str:
    """Why the published figures differ from ours; empty while only ours are shown."""
    if selection.source == "measured":
        return ""
    experiment = published_for(selection.group.recipe)
    if experiment is None:
        words = f"Nothing was published for {selection.group.name}, so there is nothing to put beside it."
        return finding(html.escape(words))
    first, *others = FAULTS
    return (
        '<p class="finding"><em>Why the published figures differ.</em> Hollow marks and rows called published are '
        f"from {html.escape(SOURCE)}, run on one {html.escape(experiment.device)}; ours are measured here, with causal "
        f"models on fixed windows. {html.escape(first)}</p><details><summary>What else running the published code "
        f"showed</summary>{_escaped([*others, *experiment.caveats, *_published_tests(selection)])}</details>"
    )


def significance_html(selection: Selection) -> str:
    """Every pair of models in a sentence, and how to read the matrix."""
    if selection.source == "published":
        told = _published_tests(selection) or ["No test was published for these runs."]
        return f'<p class="finding">Our own tests need single runs: switch to measured or both.</p>{_escaped(told)}'
    pairs = compare_group(selection.group)
    if not pairs:
        return finding("One model alone has nothing to be compared with.")
    return (
        '<p class="finding">How to read the matrix: each cell is the loss of its row minus that of its column, as '
        "measured here. <em>p</em> is corrected with Holm's method for all pairs shown; below 0.05 a cell is blue if "
        "the row is lower and orange if it is higher. <em>g</em> is Hedges' g, the difference in standard deviations "
        'between seeds.</p><div class="long-list" tabindex="0" role="group" aria-label="Tests of all pairs">'
        f"{_escaped(significance_in_words(pair) for pair in pairs)}</div>"
    )


def uploaded_html(records: Sequence[RunRecord]) -> str:
    """What was read from an upload, and where it is shown."""
    models, recipes = ({getattr(each, name) for each in records} for name in ("model", "recipe"))
    words = (
        f"Runs read: {len(records)}, of {len(models)} model{'s' if len(models) > 1 else ''}, marked “(yours)” in the "
        f"list of models of {', '.join(sorted(recipes))}. They stay with this page and are forgotten when you leave."
    )
    return finding(html.escape(words))


def _published_tests(selection: Selection) -> list[str]:
    experiment = published_for(selection.group.recipe)
    p_values = experiment.p_values if experiment else {}
    shown = {pair: p for pair, p in p_values.items() if selection.group.kinds.issuperset(pair)}
    pairs = "; ".join(
        f"{title_of(first)} against {title_of(second)} {show_p(p)}" for (first, second), p in shown.items()
    )
    return [f"Published p-values, without correction: {pairs}."] if pairs else []


def _escaped(sentences: Iterable[str]) -> str:
    return findings(map(html.escape, sentences))
