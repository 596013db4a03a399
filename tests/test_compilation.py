"""The library leaves JAX's options and the user's folders alone; the cache of compiled code is asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow  # every test starts a process

USE = """
import jax, equinox, haliax
before = dict(jax.config.values)
import tipshare
from tipshare import analysis
from tests.factories import SMALL
model = tipshare.TimeIndexedMlpConfig(**SMALL).build(key=jax.random.key(0))
model.generate("a", max_bytes=2)
for _ in tipshare.stream(model, "a", max_bytes=2):
    pass
model.score("a")
analysis.hidden_path(model, "a"), analysis.continuous_units(model), analysis.units_at(model, 0.5)
analysis.weight_products(model)
"""
CHANGED = "changed = {name: value for name, value in jax.config.values.items() if value != before.get(name)}\n"
PRINT = "import json; print(json.dumps(changed))\n"
ASK = "from tipshare.compilation import use_compilation_cache; use_compilation_cache()\n"


def changed_options(code: str, home: Path, **variables: str) -> dict:
    """JAX options that `code` changes in a new process whose user has `home`."""
    given = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    environment = {**given, "HOME": str(home), "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-c", code + CHANGED + PRINT]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_using_the_library_changes_no_option_and_writes_no_file(tmp_path):
    assert changed_options(USE, tmp_path) == {}
    assert list(tmp_path.rglob("*")) == []


def test_asking_for_the_cache_keeps_compiled_code_in_the_users_folder(tmp_path):
    changed = changed_options("import jax\nbefore = dict(jax.config.values)\n" + ASK + "jax.jit(abs)(1)\n", tmp_path)
    folder = tmp_path / ".cache" / "tipshare" / "compiled"
    assert changed["jax_compilation_cache_dir"] == str(folder)
    assert list(folder.iterdir())


def test_a_variable_turns_the_cache_off(tmp_path):
    code = "import jax\nbefore = dict(jax.config.values)\n" + ASK
    assert changed_options(code, tmp_path, TIPSHARE_COMPILATION_CACHE="0") == {}
