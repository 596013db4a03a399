"""Where a run begins if not at new weights: a trained model, of which chosen arrays are trained on."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from haliax import NamedArray

import tipshare
from tipshare.model.language_model import LanguageModel
from training.data.corpus import Corpus
from training.results.records import RunRecord


@dataclass(frozen=True, eq=False, kw_only=True)
class Start:
    """A trained model, and what a run does with it.

    Attributes:
        source: Where the model is: a bundled name, a Hub id or a folder.
        base: The model as it is there.
        model: What the run begins with: the base at the depth of the run, with new adapters if these are trained.
        trained: A tree like the arrays of `model`, with True for every array that is trained.
        facts: What was chosen, as JSON values for the settings of the record.
        first_text: The text that the base was trained on, to see how much of it is forgotten.
    """

    source: str | Path
    base: LanguageModel
    model: LanguageModel
    trained: Any
    facts: dict[str, Any]
    first_text: Corpus | None = None

    @property
    def num_trained(self) -> int:
        """How many parameters are trained."""
        return sum(leaf.size for leaf in jax.tree.leaves(self.split(eqx.filter(self.model, eqx.is_array))[0]))

    def arrays(self) -> Any:
        """The arrays that the run begins with, copied: a training step overwrites the ones that it is given."""
        return jax.tree.map(np.array, eqx.filter(self.model, eqx.is_array))

    def split(self, parameters: Any) -> tuple[Any, Any]:
        """The arrays that are trained and those that are not, each tree with None in the place of the others."""

        def part(wanted: bool) -> Any:
            return jax.tree.map(
                lambda leaf, chosen: leaf if chosen == wanted else None, parameters, self.trained, is_leaf=_is_named
            )

        return part(True), part(False)

    def save(self, model: LanguageModel, folder: Path, record: RunRecord) -> None:
        """Write adapters alone, or the whole model."""
        if model.adapters is None:
            tipshare.save(model, folder, record)
        else:
            tipshare.adapters.save(model, folder, self.source, record)


def join(trained: Any, fixed: Any) -> Any:
    """Puts the two trees of `Start.split` together; the first alone if there is no second."""
    if fixed is None:
        return trained
    return jax.tree.map(
        lambda left, right: right if left is None else left,
        trained,
        fixed,
        is_leaf=lambda leaf: leaf is None or _is_named(leaf),
    )


def _is_named(leaf: Any) -> bool:
    return isinstance(leaf, NamedArray)
