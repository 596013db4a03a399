"""How results are shown, as the controls of the tab say; other programs may send anything in their place."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from app.controls import whole_number
from tipshare.validation import check_fields
from training.results.groups import Unit
from training.results.rows import Source
from training.results.selection import Against, CurveOf

MOST_AVERAGED = 25


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
