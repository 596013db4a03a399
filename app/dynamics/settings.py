"""What is chosen in the Dynamics tab, and the link that reopens it."""

from dataclasses import dataclass
from typing import Self

from app.links import Link
from tipshare.analysis.spectra import PRODUCTS

LONGEST_TEXT = 256
# What the lens heat map may show, by the label that readers see.
SHOWN = {
    "divergence from the last depth": "divergence",
    "entropy": "entropy",
    "loss of the byte that follows": "loss",
}
EXAMPLE = "The tower is 324 metres tall, about the same height as"


@dataclass(frozen=True)
class Choice:
    """The state of the tab's controls.

    Attributes:
        place: The position whose prediction is traced back, from 0; None is the last.
        product: The product of weights whose eigenvalues are drawn.
        t: The depth at which they are drawn.
        shown: What the lens heat map shows.
    """

    model: str | None = None
    text: str = EXAMPLE
    place: int | None = None
    product: str = "value-output"
    t: float = 0.5
    shown: str = "divergence"

    def __post_init__(self) -> None:
        for name, choices in (("product", list(PRODUCTS)), ("shown", list(SHOWN.values()))):
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{name}={value!r:.40} is not one of {', '.join(choices)}")
        if not isinstance(self.t, int | float) or not 0.0 < self.t <= 1.0:
            raise ValueError(f"t={self.t!r:.40} is not a depth: t lies in (0, 1]")

    @classmethod
    def of_link(cls, link: Link, known_models: list[str]) -> Self:
        """The choice that a link to this tab asks for; ValueError with the value that is wrong."""
        default = cls()
        text = link.text("text", default.text, LONGEST_TEXT)
        return cls(
            model=link.one_of("model", default.model, known_models),
            text=text,
            place=link.number("place", default.place, 0, len(text.encode("utf-8", "surrogatepass"))),
            product=link.one_of("product", default.product, PRODUCTS),
            t=link.number("t", default.t, 0.02, 1.0),
            shown=link.one_of("shown", default.shown, SHOWN.values()),
        )


def check_text(text: str) -> bytes:
    """The bytes of a text, if there are some and not too many."""
    if not isinstance(text, str):
        raise ValueError(f"text={text!r:.40} must be a text")
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        raise ValueError("there is no text: give at least one character")
    if len(data) > LONGEST_TEXT:
        raise ValueError(
            f"the text has {len(data):,} bytes: give at most {LONGEST_TEXT}, the cost grows fast with length"
        )
    return data
