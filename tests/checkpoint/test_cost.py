"""What loading costs: hardly more memory than the weights, which stay in the mapped file."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import tipshare
from tests.factories import fill
from tipshare.checkpoint.locate import bundle_folder

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


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The published neural ODE: 51.5 million parameters in three files."""
    config = tipshare.preset("neural-ode", "published")
    assert tipshare.count_parameters(config).total == 51_512_960
    return tipshare.save(fill(config), tmp_path_factory.mktemp("large") / "model")


@pytest.mark.slow
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


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_weights_stay_in_the_mapped_file(kind):
    """Aligned tensors are used in place: loading gives them no memory of their own."""
    model = tipshare.load(kind)
    weights = f"{bundle_folder() / kind}/model.safetensors"
    mapped = [
        range(*(int(end, 16) for end in line.split()[0].split("-")))
        for line in Path("/proc/self/maps").read_text().splitlines()
        if line.endswith(weights)
    ]
    leaves = [leaf for leaf in jax.tree.leaves(model) if leaf.nbytes > 10_000]
    assert leaves
    assert all(any(leaf.unsafe_buffer_pointer() in each for each in mapped) for leaf in leaves)
    copied = jax.tree.leaves(model.astype("float16"))
    assert not any(leaf.unsafe_buffer_pointer() in each for leaf in copied for each in mapped)  # the check bites
