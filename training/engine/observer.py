"""What a run tells those who watch it: the display of the command line, or a page."""

from collections.abc import Callable
from dataclasses import dataclass

from tipshare.analysis.scoring import Score
from tipshare.model.language_model import LanguageModel


@dataclass(frozen=True)
class Evaluation:
    """The state of a run at an evaluation.

    Attributes:
        score: On the fixed validation windows.
        model: The model as it is now. Its arrays are overwritten by the next training step: look at them while being
            told, or copy them.
        loss_at: The loss on the same windows with another number of depth steps, for weights defined at every t.
    """

    step: int
    score: Score
    model: Callable[[], LanguageModel]
    loss_at: Callable[[int], float]


class Observer:
    """Is told what happens, in the thread that trains; a method that is not overridden does nothing.

    What a method raises ends the run.
    """

    def say(self, text: str) -> None:
        """The run begins something else than a training step, or found something out."""

    def stepped(self, step: int, loss: float, seconds: float | None) -> None:
        """A training step is over; `seconds` is None after a pause, whose end says nothing about a step's time."""

    def evaluated(self, found: Evaluation) -> None:
        """The fixed validation windows were scored."""

    def sampled(self, step: int, text: str) -> None:
        """The model wrote a text."""
