"""The blind test: two texts without names, and the question which of them the smaller model wrote."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.generate.claim import plain_and_shared, times_smaller
from app.generate.measured import Measured
from app.generate.settings import MOST_SEED, WritingRequest
from app.generate.streaming import write_in_turns
from app.generate.tinted import escape
from app.shelf import Listing, ModelShelf
from training.results.formatting import count_in_words

LENGTH = 240
NAMES = ("A", "B")


@dataclass(frozen=True)
class BlindTest:
    """Where a visitor is in the test.

    Attributes:
        seed: Of both texts.
        order: The models behind A and B; empty before the first pair.
        texts: What they wrote after the prompt.
        is_open: Whether the pair waits for an answer.
        right: How many answers were right, of `asked`.
    """

    prompt: str = ""
    seed: int = 0
    order: tuple[str, ...] = ()
    texts: tuple[str, ...] = field(default=(), repr=False)
    is_open: bool = False
    right: int = 0
    asked: int = 0


def ask(shelf: ModelShelf, measured: Measured, test: BlindTest, prompts: Sequence[str]) -> BlindTest:
    """A new pair: both models continue one prompt with one seed, in an order that chance decides."""
    plain, shared = _pair(shelf)
    order = random.sample((plain.name, shared.name), 2)
    prompt, seed = random.choice(prompts), random.randrange(MOST_SEED)
    wanted = WritingRequest(models=(plain.name, shared.name), prompt=prompt, length=LENGTH, seed=seed)
    *_, columns = write_in_turns(shelf, measured, wanted)
    texts = {column.name: column.text for column in columns}
    written = tuple(texts[name] for name in order)
    return replace(test, prompt=prompt, seed=seed, order=tuple(order), texts=written, is_open=True)


def answer(shelf: ModelShelf, test: BlindTest, guess: str) -> tuple[BlindTest, str]:
    """The test after an answer, and the names of both models with the tally; an answer counts once."""
    plain, shared = _pair(shelf)
    if not test.is_open:
        raise ValueError("there is no pair to answer: ask for a new one")
    is_right = test.order[NAMES.index(guess)] == shared.name
    after = replace(test, is_open=False, right=test.right + is_right, asked=test.asked + 1)
    known = {each.name: f"{escape(each.label)} ({count_in_words(each.stored)})" for each in (plain, shared)}
    names = ", ".join(f"{letter} is {known[name]}" for letter, name in zip(NAMES, test.order, strict=True))
    return after, f'<p role="status"><strong>{"Right" if is_right else "Wrong"}:</strong> {names}. {tally(after)}</p>'


def tally(test: BlindTest) -> str:
    """How many answers were right, and how often guessing does as well."""
    share = at_least_by_chance(test.right, test.asked)
    return (
        f"You were right {test.right} of {test.asked} times. Guessing is right every other time; "
        f"{test.right} or more of {test.asked} happens by chance in {100 * share:.3g} % of cases."
    )


def at_least_by_chance(right: int, asked: int) -> float:
    """The probability of at least so many right answers if each is the toss of a coin."""
    return sum(math.comb(asked, each) for each in range(right, asked + 1)) / 2**asked


def question(listings: Sequence[Listing]) -> str:
    """The question with its number; without such a pair, what is missing."""
    pair = plain_and_shared(listings)
    if pair is None:
        return "<h2>Blind test</h2><p>It needs a plain transformer and a smaller model, with their records.</p>"
    return (
        f"<h2>Blind test: which model is {times_smaller(*pair)} times smaller?</h2>"
        "<p>Two models continue the same prompt. Their names come after your answer.</p>"
    )


def show_pair(test: BlindTest) -> str:
    """Both texts, without anything that tells the models apart."""
    cards = "".join(
        f'<div class="card"><div class="card-head"><h3>Text {letter}</h3></div>'
        f'<div class="written" tabindex="0" role="group" aria-label="Text {letter}">'
        f'<span class="prompt">{escape(test.prompt)}</span>{escape(text)}</div></div>'
        for letter, text in zip(NAMES, test.texts, strict=True)
    )
    return f'<div class="cards">{cards}</div>'


def _pair(shelf: ModelShelf) -> tuple[Listing, Listing]:
    pair = plain_and_shared(list(shelf.listings()))
    if pair is None:
        raise ValueError("the blind test needs a plain transformer and a smaller model, with their records")
    return pair
