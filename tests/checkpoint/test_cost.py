"""What loading costs: no more time than reading the bytes with safetensors, and hardly more memory than the weights."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tipshare
from tests.factories import fill
from tipshare.checkpoint.container import map_file

ROOT = Path(__file__).parents[2]

# In a process of its own: what it takes at most while loading, over what it had before, in bytes.
MEASURE = """
import json, sys, threading, time
import jax, jax.numpy as jnp
import tipshare

def resident():
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["VmRSS"].split()[0]) * 1024

folder, warm = sys.argv[1:]
jax.block_until_ready(jax.tree.leaves(tipshare.load(warm)))
before = most = resident()
running = True

def watch():
    global most
    while running:
        most = max(most, resident())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
model = tipshare.load(folder, dtype=None)
jax.block_until_ready(jax.tree.leaves(model))
running = False
watcher.join()
most = max(most, resident())
print(json.dumps({"weights": sum(leaf.nbytes for leaf in jax.tree.leaves(model)), "taken": most - before}))
"""

# In a process of its own too: other tests may have told this one's allocator to keep freed memory.
TIME = """
import json, sys, time
from pathlib import Path
import jax
from safetensors.numpy import load_file
import tipshare

folder = Path(sys.argv[1])
files = sorted(folder.glob("model-*.safetensors"))
reading, loading = [], []
for _ in range(7):
    start = time.perf_counter()
    arrays = [load_file(path) for path in files]
    reading.append(time.perf_counter() - start)
    del arrays
    start = time.perf_counter()
    model = tipshare.load(folder)
    jax.block_until_ready(jax.tree.leaves(model))
    loading.append(time.perf_counter() - start)
    del model
print(json.dumps([reading, loading]))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The published neural ODE: 51.5 million parameters in three files."""
    config = tipshare.preset("neural-ode", "published")
    assert tipshare.count_parameters(config).total == 51_512_960
    return tipshare.save(fill(config), tmp_path_factory.mktemp("large") / "model")


def test_loading_takes_no_longer_than_reading_the_bytes(large):
    files = sorted(large.glob("model-*.safetensors"))
    assert len(files) == 3
    assert all(path.stat().st_size <= 91e6 for path in files)
    command = [sys.executable, "-c", TIME, str(large)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    reading, loading = json.loads(run.stdout)
    # The quickest of each: other work on the machine only ever adds time.
    print(f"reading {min(reading):.3f} s, loading {min(loading):.3f} s")
    assert min(loading) <= 1.3 * min(reading)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_loading_takes_at_most_half_as_much_again_as_the_weights(kind, large, tmp_path):
    folder = large
    if kind != "neural-ode":
        # Wide enough for its weights to stand out from the noise of a running interpreter.
        config = tipshare.KINDS[kind](hidden_dim=1024 if kind == "standard" else 2048, num_layers=2)
        folder = tipshare.save(fill(config), tmp_path / "model")
    warm = tipshare.save(fill(tipshare.KINDS[kind](hidden_dim=16, num_heads=2)), tmp_path / "warm")
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, folder, warm], cwd=ROOT, capture_output=True, text=True, check=True
    )
    measured = json.loads(run.stdout)
    print(kind, measured["taken"] / measured["weights"])
    assert measured["weights"] > 50e6
    assert measured["taken"] <= 1.5 * measured["weights"]


def test_large_tensors_stay_in_the_mapped_file(large):
    """Aligned tensors are used in place: loading gives them no memory of their own."""
    header = next(iter(tipshare.checkpoint.read_folder(large).headers.values()))
    assert header.data_start % 64 == 0
    assert all(entry.start % 64 == 0 for entry in header.tensors.values() if (entry.end - entry.start) > 1e6)
    mapped = map_file(next(large.glob("model-*.safetensors")))
    with pytest.raises(TypeError):
        mapped[0] = 0
