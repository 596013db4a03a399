"""What is chosen in the Dynamics tab, and the link that reopens it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

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

    def to_query(self) -> str:
        """The query of a link to this view; defaults are left out."""
        default = Choice()
        fields = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        changed = {name: value for name, value in fields.items() if value != getattr(default, name)}
        return "?" + urlencode({"tab": "dynamics", **changed})

    @classmethod
    def of_query(cls, query: Mapping[str, str], known_models: list[str]) -> Self:
        """The choice in the query of a link to this tab; ValueError with the value that is wrong."""
        if query.get("tab") != "dynamics":
            return cls()
        fields: dict[str, Any] = {name: query[name] for name in ("text", "product", "shown") if name in query}
        numbers = {"place": int, "t": float}
        for name, kind in numbers.items():
            if name in query:
                try:
                    fields[name] = kind(query[name])
                except ValueError:
                    raise ValueError(f"the link says {name}={query[name][:40]!r}, which is not a number") from None
        model = query.get("model")
        if model is not None and model not in known_models:
            raise ValueError(f"the link asks for the model {model[:80]!r}, which is not here: load it at the top first")
        return cls(model=model, **fields)


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
