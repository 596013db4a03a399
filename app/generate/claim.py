"""What the page claims, in a sentence and in bars, computed from the bundled checkpoints and their records."""

from collections.abc import Sequence

from app.generate.tinted import escape
from app.shelf import Listing
from app.style import dot_of
from training.results.formatting import count_in_words

# What records call the texts that models were trained on, and why these read as they do.
CORPORA = {
    "wikitext-2": (
        "WikiText-2, text of Wikipedia cut into tokens: rare words are <code>&lt;unk&gt;</code> there, a hyphen is "
        "<code>@-@</code>, and spaces stand around every comma"
    ),
}


def plain_and_shared(listings: Sequence[Listing]) -> tuple[Listing, Listing] | None:
    """The plain transformer, and of the smaller models the one with the lowest loss; None without such a pair."""
    plain = [each for each in listings if each.config.weights == "own" and each.loss is not None]
    smaller = [
        each
        for each in listings
        if plain and each.config.weights != "own" and each.loss is not None and each.stored < plain[0].stored
    ]
    return (plain[0], min(smaller, key=lambda each: each.loss or 0.0)) if smaller else None


def times_smaller(plain: Listing, shared: Listing) -> str:
    """How many times more parameters the plain transformer stores."""
    return f"{plain.stored / shared.stored:.2g}"


def show_claim(listings: Sequence[Listing]) -> str:
    """The claim, a bar for the size of each model with its loss, and why the texts read as they do."""
    if not listings:
        return ""
    return f'<div class="claim">{_sentence(listings)}{_bars(listings)}{_why(listings)}</div>'


def _sentence(listings: Sequence[Listing]) -> str:
    pair = plain_and_shared(listings)
    if pair is None:
        return ""
    plain, shared = pair
    difference = (shared.loss or 0.0) - (plain.loss or 0.0)
    if abs(difference) < 0.0005:
        verdict = "has the loss of"
    elif difference > 0:
        verdict = f"comes within {difference:.3f} nats per byte of"
    else:
        verdict = f"is {-difference:.3f} nats per byte better than"
    return (
        f"<p><strong>One block, used {shared.config.steps} times over and tuned by gates: a model of "
        f"{count_in_words(shared.stored)} parameters {verdict} a plain transformer of {count_in_words(plain.stored)}, "
        f"{times_smaller(plain, shared)} times its size.</strong></p>"
    )


def _bars(listings: Sequence[Listing]) -> str:
    most = max(each.stored for each in listings)
    rows = "".join(
        f'<div role="row"><span role="rowheader">{dot_of(each.kind)} {escape(each.label)}</span>'
        f'<span role="cell" class="size"><b><i style="width:{100 * each.stored / most:.1f}%;background:{each.colour}">'
        f"</i></b>{count_in_words(each.stored)}</span>"
        f'<span role="cell">{"n/a" if each.loss is None else f"{each.loss:.3f}"}</span></div>'
        for each in listings
    )
    head = (
        '<div role="row"><span role="columnheader">Model</span><span role="columnheader">Parameters</span>'
        '<span role="columnheader">Nats/byte</span></div>'
    )
    return f'<div class="sizes" role="table" aria-label="Sizes and losses of the models">{head}{rows}</div>'


def _why(listings: Sequence[Listing]) -> str:
    """One line for those who wonder at the texts."""
    sizes = sorted(each.stored for each in listings)
    names = [str(each.record.settings.get("corpus", "")) for each in listings if each.record]
    told = dict.fromkeys(CORPORA.get(name, escape(name)) for name in names if name)
    corpus = f", trained on {' and '.join(told)}" if told else ""
    return (
        f'<p class="note">Why the texts read oddly: these are tiny models ({count_in_words(sizes[0])} to '
        f"{count_in_words(sizes[-1])} parameters) that write byte by byte{corpus}.</p>"
    )
