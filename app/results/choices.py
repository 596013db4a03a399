"""How results are shown, as the controls of the tab or a link say; other programs may send anything in their place."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self, get_args

from app.controls import whole_number
from app.links import Link
from app.results.data import EVERY_CORPUS, corpora
from tipshare.validation import check_fields
from training.results.groups import RunGroup, Unit
from training.results.rows import Source
from training.results.selection import Against, CurveOf

MOST_AVERAGED = 25
CURVES = list(get_args(CurveOf))


@dataclass(frozen=True, kw_only=True)
class ResultsChoice:
    """Checked values of the controls; ValueError for others. The fields are those of a `Selection`, and the unit."""

    source: Source
    curve: CurveOf
    window: int = field(metadata={"most": MOST_AVERAGED})
    unit: Unit
    against: Against

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of_controls(cls, source: Any, curve: Any, window: Any, unit: Any, against: Any) -> Self:
        """The choice from values of the controls."""
        window = whole_number("points averaged", window)
        return cls(source=source, curve=curve, window=window, unit=unit, against=against)

    def fields(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def read_link(link: Link, groups: Sequence[RunGroup], recipe: str | None, others: Sequence[Any]) -> list[Any]:
    """Corpus, recipe, models (None for those to begin with) and the other controls, as a link asks for them.

    Args:
        recipe: Without one in the link.
        others: Source, all recipes, curve, smoothing, unit and cost without any in the link.
    """
    source, every, curve, window, unit, cost = others
    name = link.one_of("recipe", recipe, [each.name for each in groups])
    labels = next((each.labels for each in groups if each.name == name), ())
    return [
        link.one_of("corpus", EVERY_CORPUS, corpora(groups)),
        name,
        link.some_of("models", None, labels),
        link.one_of("show", source, get_args(Source)),
        link.one_of("all", str(every).lower(), ("true", "false")) == "true",
        link.one_of("curve", curve, CURVES),
        link.number("smoothing", window, 1, MOST_AVERAGED),
        link.one_of("unit", unit, get_args(Unit)),
        link.one_of("against", cost, get_args(Against)),
    ]
