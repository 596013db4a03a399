"""Time-indexed parameter sharing: transformers whose depth is a continuous time t."""

from tipshare.checkpoint import CheckpointError, list_bundled, load, save
from tipshare.config import (
    KINDS,
    ModelConfig,
    NeuralOdeConfig,
    StandardConfig,
    TimeIndexedMlpConfig,
    TimeIndexedSsmConfig,
)
from tipshare.hub import push
from tipshare.model import LanguageModel
from tipshare.parameters import ParameterCounts, count_parameters
from tipshare.presets import PRESETS, preset
from tipshare.scoring import Score

__version__ = "0.1.0"

__all__ = [
    "KINDS",
    "PRESETS",
    "CheckpointError",
    "LanguageModel",
    "ModelConfig",
    "NeuralOdeConfig",
    "ParameterCounts",
    "Score",
    "StandardConfig",
    "TimeIndexedMlpConfig",
    "TimeIndexedSsmConfig",
    "count_parameters",
    "list_bundled",
    "load",
    "preset",
    "push",
    "save",
]
