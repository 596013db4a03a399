"""Compiled code kept on disk, so that the second start of a program is quick; for programs, never on import."""

import os
from pathlib import Path

import jax

# A folder for the compiled code, or 0 for none.
VARIABLE = "TIPSHARE_COMPILATION_CACHE"
FOLDER_OPTION = "jax_compilation_cache_dir"


def use_compilation_cache() -> None:
    """Let JAX keep compiled code in `cache_folder()`, unless the user chose another folder or none."""
    folder = cache_folder()
    if folder is None or jax.config.values.get(FOLDER_OPTION) is not None:
        return
    jax.config.update(FOLDER_OPTION, str(folder))
    # Small functions too: a dozen of them run before the first byte of a text.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def cache_folder() -> Path | None:
    """Where compiled code is kept: the user's cache folder, or what the environment variable says; None for nowhere."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted == "0":
        return None
    if wanted:
        return Path(wanted)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tipshare" / "compiled"
