"""The loss of a visitor's text under each model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.generate.settings import MOST_MODELS
from app.generate.tinted import escape, tint_text
from app.shelf import Listing, ModelShelf
from app.shelf.limits import LONGEST_SCORED
from tipshare.analysis.scoring import Score
from tipshare.generation.pieces import ByteInfo
from tipshare.text.tokenizer import to_bytes


@dataclass(frozen=True)
class Scored:
    """The score of a text under one model; None while it waits."""

    listing: Listing
    score: Score | None

    def as_json(self) -> dict[str, Any]:
        if self.score is None:
            return {"model": self.listing.name, "state": "waiting"}
        return {
            "model": self.listing.name,
            "state": "scored",
            "bits_per_byte": self.score.bits_per_byte,
            "nats_per_byte": self.score.loss,
            "perplexity": self.score.perplexity,
            "log_probs": [round(float(each), 5) for each in self.score.log_probs],
        }


def score_in_turns(shelf: ModelShelf, text: str, models: Sequence[str]) -> Iterator[list[Scored]]:
    """The scores of all models; each update has one more."""
    if not isinstance(text, str) or not isinstance(models, Sequence) or isinstance(models, str):
        raise ValueError("a score needs a text and a list of names of models")
    if not text:
        raise ValueError("there is no text to score: paste one first")
    count = len(to_bytes(text))
    if count > LONGEST_SCORED:
        raise ValueError(f"the text has {count:,} bytes: this page scores at most {LONGEST_SCORED:,}; shorten it")
    if not 1 <= len(models) <= MOST_MODELS:
        raise ValueError(f"{len(models)} models are chosen: choose one to {MOST_MODELS}")
    scored = [Scored(shelf.describe(name), None) for name in models]
    yield scored
    for number, name in enumerate(models):
        scored = [*scored]
        scored[number] = Scored(scored[number].listing, shelf.get(name).model.score(text))
        yield scored


def show_scores(text: str, scored: Sequence[Scored]) -> str:
    """Bars of bits per byte, then the text tinted by each model's surprise."""
    known = [each.score.bits_per_byte for each in scored if each.score is not None]
    best, most = min(known, default=0.0), max(known, default=1.0)
    bars = "".join(_bar(each, best, most) for each in scored)
    texts = "".join(_text(text, each) for each in scored)
    return (
        f'<div class="bars" role="table" aria-label="Bits per byte by model">{bars}</div>'
        '<p class="note">Lower is better: a model that predicts the text well needs few bits for each byte. '
        f'A uniform guess needs 8.</p><div class="cards">{texts}</div>'
    )


def _bar(each: Scored, best: float, most: float) -> str:
    name, colour = escape(each.listing.label), each.listing.colour
    if each.score is None:
        bar, value = "", "…"
    else:
        bits = each.score.bits_per_byte
        bar = f'<span class="score-bar" style="width:{100 * bits / most:.1f}%;background:{colour}"></span>'
        value = f"{bits:.2f} bits/byte" + (" <strong>best</strong>" if bits == best and best < most else "")
    cells = f'<span role="rowheader">{name}</span><span role="cell">{bar}</span><span role="cell">{value}</span>'
    return f'<div role="row">{cells}</div>'


def _text(text: str, each: Scored) -> str:
    head = f'<div class="card-head"><span class="dot" style="background:{each.listing.colour}"></span>'
    head += f"<h3>{escape(each.listing.label)}</h3></div>"
    if each.score is None:
        return f'<div class="card">{head}<div class="written"></div></div>'
    infos = [
        ByteInfo(byte, float(probability), 0, ())
        for byte, probability in zip(to_bytes(text), np.exp(each.score.log_probs), strict=True)
    ]
    label = f"The text as {escape(each.listing.label)} predicts it. Arrow keys move through it."
    tinted = tint_text(text, infos)
    region = f'<div class="written" tabindex="0" role="group" aria-label="{label}">{tinted}</div>'
    return f'<div class="card">{head}{region}</div>'
