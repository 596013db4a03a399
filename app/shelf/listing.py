"""What the page knows of a model, before and after its weights are loaded."""

from dataclasses import dataclass
from functools import lru_cache

from tipshare.checkpoint import RunRecord
from tipshare.config import ModelConfig
from tipshare.kinds import colour_of
from tipshare.model.language_model import LanguageModel
from tipshare.model.parameters import count_parameters


@dataclass(frozen=True)
class Listing:
    """What is known of a model before its weights are loaded.

    Attributes:
        name: A bundled folder's name, or a Hub id.
        label: The name that readers see; unique among the models that a visitor sees.
        record: The run that made the weights, if it is known.
    """

    name: str
    label: str
    config: ModelConfig
    record: RunRecord | None

    @property
    def kind(self) -> str:
        return self.config.kind

    @property
    def colour(self) -> str:
        return colour_of(self.kind)

    @property
    def stored(self) -> int:
        """Parameters that the checkpoint holds."""
        return _count(self.config, False)

    @property
    def effective(self) -> int:
        """Parameters of the frozen model: the weights of all depth steps, without gates and hypernetworks."""
        return _count(self.config, True)

    @property
    def loss(self) -> float | None:
        """Validation loss in nats per byte, as recorded."""
        return None if self.record is None else self.record.final.get("valid_loss")


@dataclass(frozen=True)
class Entry(Listing):
    """A model that is ready to run."""

    model: LanguageModel


@lru_cache(maxsize=256)
def _count(config: ModelConfig, frozen: bool) -> int:
    return count_parameters(config, frozen=frozen).total
