"""The dial for depth: its range, and what a model is at a number of depth steps."""

from collections import Counter
from collections.abc import Sequence

from app.generate.streaming import depth_of
from app.shelf import Listing
from training.results.summaries import depth_loss

SHALLOWEST, DEEPEST = 2, 18
# Where the dial stands on a page without any model.
NO_MODEL = 6


def usual_steps(listings: Sequence[Listing]) -> int:
    """Where the dial stands at first: the number that most models whose depth is free were trained with."""
    counts = Counter(each.config.steps for each in listings if each.config.is_continuous)
    usual = counts.most_common(1)[0][0] if counts else NO_MODEL
    return on_dial(usual)


def on_dial(steps: int) -> int:
    """The nearest number that the dial has."""
    return min(max(steps, SHALLOWEST), DEEPEST)


def steps_of(listing: Listing, steps: int) -> int:
    """The depth steps that a model takes when the dial stands at `steps`; 0 for its own number."""
    return depth_of(listing, steps) or listing.config.steps


def loss_at(listing: Listing, steps: int) -> float | None:
    """Validation loss in nats per byte at a number of depth steps, as recorded; None where nothing was measured."""
    if listing.record is None:
        return None
    measured = listing.record.final.get(depth_loss(steps))
    return listing.loss if measured is None and steps == listing.config.steps else measured


def depth_in_words(listing: Listing, steps: int) -> str:
    """The depth of a model, and whether the dial moves it."""
    if not listing.config.is_continuous:
        return f"its depth is fixed: {listing.config.steps} layers"
    trained = "" if steps == listing.config.steps else f" (trained at {_trained(listing)})"
    return f"{steps} depth steps{trained}"


def _trained(listing: Listing) -> str:
    """The depth steps of the training run: those that were drawn, or its one number."""
    drawn = listing.record.settings.get("depth_steps") if listing.record else None
    if isinstance(drawn, list | tuple) and drawn and all(isinstance(each, int) for each in drawn):
        return f"{min(drawn)} to {max(drawn)}" if len(set(drawn)) > 1 else f"{drawn[0]}"
    return str(listing.config.steps)
