"""What it costs to check every byte of a checkpoint: processor time of loading, with and without.

Processor time of all threads: on a machine that others use too, the clock says how busy it is. Hashing runs beside the
other checks, so that the clock shows less of it on a machine with cores to spare.
"""

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import jax

import tipshare
from tests.factories import fill
from tipshare.checkpoint.locate import bundle_folder

REPEATS = 9


def measure_loading() -> dict[str, Any]:
    """Medians for the bundled checkpoints, and for 200 MB of weights."""
    found = [_measure(name, bundle_folder() / name) for name in tipshare.list_bundled()]
    with tempfile.TemporaryDirectory() as folder:
        config = tipshare.preset("neural-ode", "published")
        found.append(_measure("published neural-ode", tipshare.save(fill(config), Path(folder) / "model")))
    return {"repeats": REPEATS, "checkpoints": found}


def _measure(name: str, folder: Path) -> dict[str, Any]:
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    _load(folder, True)  # what is traced and cached once
    # By turns, so that both see the same state of the machine.
    timed = [(_timed(folder, True), _timed(folder, False)) for _ in range(REPEATS)]
    checked, unchecked = (sorted(pair[side] for pair in timed) for side in (0, 1))
    return {
        "name": name,
        "bytes": size,
        "verified_ms": 1e3 * median(checked),
        "unverified_ms": 1e3 * median(unchecked),
        "ratio": median(first / second for first, second in timed),
    }


def _timed(folder: Path, verify: bool) -> float:
    began = time.process_time()
    _load(folder, verify)
    return time.process_time() - began


def _load(folder: Path, verify: bool) -> None:
    jax.block_until_ready(jax.tree.leaves(tipshare.load(folder, verify=verify)))
