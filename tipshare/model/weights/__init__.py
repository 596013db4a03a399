"""Where the weights at depth t come from: one file per source, and the table that names them."""

from tipshare.model.weights.gated import GatedWeights
from tipshare.model.weights.generated import GeneratedWeights
from tipshare.model.weights.generated_gated import GeneratedGatedWeights
from tipshare.model.weights.own import OwnWeights
from tipshare.model.weights.own_generated import OwnGeneratedWeights
from tipshare.model.weights.source import WeightSource
from tipshare.model.weights.tied import TiedWeights

# The values of the config field `weights`.
SOURCES: dict[str, WeightSource] = {
    "own": OwnWeights(),
    "generated": GeneratedWeights(),
    "gated": GatedWeights(),
    "tied": TiedWeights(),
    "own-generated": OwnGeneratedWeights(),
    "generated-gated": GeneratedGatedWeights(),
}

__all__ = ["SOURCES", "WeightSource"]
