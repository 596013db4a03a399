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
from tipshare.generation import generate, stream
from tipshare.hub import push
from tipshare.model import LanguageModel
from tipshare.parameters import ParameterCounts, count_parameters
from tipshare.pieces import ByteInfo, Generation, Piece, Trace
from tipshare.presets import PRESETS, preset
from tipshare.sampling import Sampling
from tipshare.scoring import Score

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
    "count_parameters",
    "generate",
    "list_bundled",
    "load",
    "preset",
    "push",
    "save",
    "stream",
]
