"""The final weights of a run as a checkpoint folder; the one place that knows its format."""

from pathlib import Path

import equinox as eqx
import jax
import jax.random as jr
from safetensors.numpy import load_file, save_file

from tipshare.config import ModelConfig
from tipshare.model import LanguageModel
from training.records import RunRecord
from training.state import flatten, unflatten, write_text


def save_checkpoint(model: LanguageModel, folder: Path, record: RunRecord) -> None:
    """Write weights and config, then the record, whose presence says that the run is finished."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / "model.safetensors.tmp"
    save_file(flatten(eqx.filter(model, eqx.is_array)), temporary)
    temporary.replace(folder / "model.safetensors")
    write_text(folder / "config.json", model.config.to_json() + "\n")
    write_text(folder / "record.json", record.to_json() + "\n")


def load_checkpoint(folder: Path) -> LanguageModel:
    """The model that `save_checkpoint` wrote."""
    path = folder / "model.safetensors"
    if not path.is_file():
        raise ValueError(f"{folder} is no checkpoint: it has no model.safetensors; give a run's folder")
    config = ModelConfig.from_json(folder / "config.json")
    shapes: LanguageModel = eqx.filter_eval_shape(config.build, key=jr.key(0))
    arrays, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    return eqx.combine(jax.tree.map(jax.numpy.asarray, unflatten(load_file(path), arrays)), static)
