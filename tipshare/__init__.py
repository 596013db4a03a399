"""Time-indexed parameter sharing: transformers whose depth is a continuous time t."""

from tipshare import adapters
from tipshare.analysis.scoring import Score
from tipshare.checkpoint import CheckpointError, list_bundled, load, save
from tipshare.checkpoint.hub import push
from tipshare.config import (
    KINDS,
    ModelConfig,
    NeuralOdeConfig,
    StandardConfig,
    TimeIndexedMlpConfig,
    TimeIndexedSsmConfig,
)
from tipshare.generation.pieces import ByteInfo, Generation, Piece, Trace
from tipshare.generation.sampling import Sampling
from tipshare.generation.streaming import generate, stream
from tipshare.model.language_model import LanguageModel
from tipshare.model.parameters import ParameterCounts, count_parameters, describe
from tipshare.presets import PRESETS, preset

__version__ = "0.1.0"

__all__ = [
    "KINDS",
    "PRESETS",
    "ByteInfo",
    "CheckpointError",
    "Generation",
    "LanguageModel",
    "ModelConfig",
    "NeuralOdeConfig",
    "ParameterCounts",
    "Piece",
    "Sampling",
    "Score",
    "StandardConfig",
    "TimeIndexedMlpConfig",
    "TimeIndexedSsmConfig",
    "Trace",
    "adapters",
    "count_parameters",
    "describe",
    "generate",
    "list_bundled",
    "load",
    "preset",
    "push",
    "save",
    "stream",
]
