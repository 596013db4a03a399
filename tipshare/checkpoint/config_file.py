"""config.json: what the model is, and which format the folder has."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tipshare.checkpoint.container import DTYPES
from tipshare.checkpoint.layout import CONFIG, FORMAT, FORMAT_VERSION, CheckpointError
from tipshare.checkpoint.reading import check_keys
from tipshare.config import ModelConfig

ARCHITECTURE = "LanguageModel"
DTYPE_NAMES = {dtype.name: dtype for dtype in DTYPES.values()}
FIELDS = {"model_type", "architectures", "format_version", "dtype", "model"}
# Other programs add these fields to the file; this package does not read them.
IGNORED_FIELDS = {"transformers_version", "_name_or_path", "auto_map"}

# No tensor has these sizes as its shape, so that a small file could ask for a model that takes very long to run.
UNCONFIRMED_LIMITS = {"num_layers": 1024, "depth_steps": 1024, "max_position_embeddings": 2**16}


@dataclass(frozen=True)
class StoredConfig:
    """A model config and the dtype its weights are stored in."""

    model: ModelConfig
    dtype: np.dtype


def describe(config: ModelConfig, dtype: np.dtype) -> dict[str, Any]:
    """The fields of config.json."""
    return {
        "model_type": FORMAT,
        "architectures": [ARCHITECTURE],
        "format_version": FORMAT_VERSION,
        "dtype": dtype.name,
        "model": config.to_dict(),
    }


def parse(fields: dict[str, Any]) -> StoredConfig:
    """The config that `describe` wrote, or a CheckpointError."""
    if fields.get("model_type") != FORMAT:
        raise CheckpointError(f"{CONFIG}: model_type is {fields.get('model_type')!r:.80}, not {FORMAT!r}")
    version = fields.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise CheckpointError(
            f"{CONFIG}: format_version {version!r:.80} is not {FORMAT_VERSION}, the one this version of tipshare reads"
        )
    check_keys(CONFIG, {name: value for name, value in fields.items() if name not in IGNORED_FIELDS}, FIELDS)
    if fields["architectures"] != [ARCHITECTURE]:
        raise CheckpointError(f"{CONFIG}: architectures must be [{ARCHITECTURE!r}]")
    if not isinstance(fields["dtype"], str) or fields["dtype"] not in DTYPE_NAMES:
        raise CheckpointError(f"{CONFIG}: dtype {fields['dtype']!r:.80} is not one of {', '.join(DTYPE_NAMES)}")
    try:
        config = ModelConfig.from_dict(fields["model"])
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"{CONFIG}: {str(error)[:500]}") from error
    for name, limit in UNCONFIRMED_LIMITS.items():
        if (getattr(config, name) or 0) > limit:
            raise CheckpointError(
                f"{CONFIG}: {name}={getattr(config, name)} is more than the {limit} a checkpoint may ask for"
            )
    return StoredConfig(config, DTYPE_NAMES[fields["dtype"]])
