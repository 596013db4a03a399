"""Hostile checkpoint and adapter folders: loading refuses them, or gives exactly what their files hold."""

import os
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

import tipshare
from tests.adapters.test_folder import adapt
from tests.checkpoint.configs import build_tiny, equal_weights, reseal
from tests.checkpoint.records import record_fields
from tests.hostile.limits import refused
from tests.hostile.mutations import draw, mutate_json, mutate_weights
from tipshare import CheckpointError, adapters
from tipshare.checkpoint.names import name_tensors

KIND = "time-indexed-mlp"
CHECKPOINT_FILES = ["config.json", "checksums.json", "record.json", "model.safetensors"]
ADAPTER_FILES = ["adapter_config.json", "checksums.json", "adapter_model.safetensors"]


class Folders:
    """A good folder, and a copy of it that is changed for every case."""

    def __init__(self, good: Path, files: list[str]) -> None:
        self._good, self._files = good, files
        self._copy = good.parent / f"hostile-{good.name}"
        self._model = tipshare.load(good)

    def run(self, random: np.random.Generator) -> bool:
        """Whether a changed folder was loaded; any error but ours, and any other model, goes up."""
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self._good, self._copy)
        name = draw(random, self._files)
        self._change(self._copy / name, random)
        # A forger makes the sums agree.
        is_sealed = name != "checksums.json" and (self._copy / name).is_file() and random.random() < 0.5
        if is_sealed and not (self._copy / name).is_symlink():
            reseal(self._copy)
        try:
            model = tipshare.load(self._copy)
        except CheckpointError as error:
            return refused(error)
        assert self._is_what_the_files_hold(model, is_sealed)
        return True

    def _change(self, path: Path, random: np.random.Generator) -> None:
        mutate = mutate_weights if path.suffix == ".safetensors" else mutate_json
        match int(random.integers(12)):
            case 0:
                path.unlink()
                draw(random, [os.mkfifo, os.mkdir, lambda place: place.symlink_to("/dev/zero"), lambda place: None])(
                    path
                )
            case 1:
                path.rename(path.parent.parent / "elsewhere")
                path.symlink_to(path.parent.parent / "elsewhere")
            case _:
                path.write_bytes(mutate(path.read_bytes(), random))

    def _is_what_the_files_hold(self, model: tipshare.LanguageModel, is_sealed: bool) -> bool:
        if not is_sealed:
            return equal_weights(model, self._model)
        (path,) = self._copy.glob("*.safetensors")
        stored = load_file(path)
        named = name_tensors(model if model.adapters is None else model.adapters)
        return named.keys() == stored.keys() and all(
            np.asarray(named[name]).tobytes() == stored[name].tobytes() for name in stored
        )


def checkpoints(folder: Path) -> Folders:
    """Of whole models."""
    good = tipshare.save(build_tiny(KIND), folder / "checkpoint", record=record_fields(KIND))
    return Folders(good, CHECKPOINT_FILES)


def adapter_folders(folder: Path) -> Folders:
    """Of adapters."""
    base = tipshare.save(build_tiny(KIND), folder / "base")
    good = adapters.save(adapt(build_tiny(KIND), targets=("attention",)), folder / "adapter", base)
    return Folders(good, ADAPTER_FILES)
