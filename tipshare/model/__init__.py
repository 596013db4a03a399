"""The language model: layers, block, the loop over depth, and where the weights at depth t come from."""

from tipshare.model.language_model import LanguageModel
from tipshare.model.parameters import ParameterCounts, count_parameters, describe

__all__ = ["LanguageModel", "ParameterCounts", "count_parameters", "describe"]
