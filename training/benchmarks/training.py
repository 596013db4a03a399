"""Seconds per training step of every kind, compared with GPT-2 in `transformers` and a plain transformer in torch."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tipshare.config import KINDS
from training.benchmarks.peer import Peer, describe_benchmark, measure_turns
from training.engine.costs import TRAINING_TO_FORWARD, formula_flops_per_token
from training.engine.sharding import Placement
from training.engine.step import Program
from training.recipes.library import find_recipe
from training.recipes.recipe import Recipe

RECIPE, TUNED = "published-1000", "tuned-1000"
# Steps per turn: enough that the overhead of a turn does not count.
STEPS = 3
# Of the tuned protocol: what Muon adds to a step depends on how many matrices are stored and not on the batch.
BATCHES, TUNED_STEPS = (8, 32), 2
# A matrix product is short: with several per step, the pipe to the other process does not count either.
PRODUCTS_PER_STEP = 4
PEERS = {"transformers GPT-2": "gpt2", "plain torch": "plain"}
TORCH_PRODUCT = "torch matrix product"


class Ours:
    """The training step of one model of a recipe, as in a run."""

    def __init__(self, label: str, recipe: Recipe):
        self.name, self.config = recipe.configure(label)
        recipe = recipe.for_model(label)
        program = Program.of(recipe, self.config, Placement())
        self._parameters, self._state = program.start(0)
        self._step, _ = program.compile_step(self._parameters, self._state)
        ids = np.random.default_rng(0).integers(0, 256, (recipe.batch_size, recipe.length + 1)).astype(np.uint8)
        self._windows = program.put_windows(ids)
        self.tokens = recipe.batch_size * recipe.length
        self._number = 0

    def seconds(self, steps: int) -> float:
        began = time.perf_counter()
        loss = None
        for _ in range(steps):
            self._number += 1
            self._parameters, self._state, loss = self._step(
                self._parameters, self._state, self._windows, np.int32(self._number), np.uint32(0)
            )
        jax.block_until_ready(loss)
        return (time.perf_counter() - began) / steps

    def operations(self) -> float:
        """Floating-point operations of the matrix products in one step."""
        per_token = formula_flops_per_token(self.config, self.config.max_position_embeddings)
        return TRAINING_TO_FORWARD * per_token * self.tokens


class MatrixProduct:
    """One large matrix product, for the best rate that XLA reaches on this machine."""

    name = "matrix product"
    size = 1024

    def __init__(self):
        self._matrix = jnp.ones((self.size, self.size), jnp.float32)
        self._multiply = jax.jit(jnp.matmul)

    def seconds(self, steps: int) -> float:
        began = time.perf_counter()
        for _ in range(PRODUCTS_PER_STEP * steps):
            jax.block_until_ready(self._multiply(self._matrix, self._matrix))
        return (time.perf_counter() - began) / (PRODUCTS_PER_STEP * steps)

    def operations(self) -> float:
        return 2.0 * self.size**3


class TorchProduct(Peer):
    """The same product in torch, the same number of times per turn."""

    def seconds(self, what: int) -> float:
        return super().seconds(PRODUCTS_PER_STEP * what)


def measure(torch_python: str | None, *, rounds: int, threads: int, kinds: Sequence[str] = tuple(KINDS)) -> dict:
    """Medians over rounds in which all parties take turns; ratios are computed within a round."""
    recipe = find_recipe(RECIPE)
    ours = [Ours(kind, recipe) for kind in kinds]
    product = MatrixProduct()
    shape = KINDS["standard"]()
    settings = {
        "threads": threads,
        "batch": recipe.batch_size,
        "length": recipe.length,
        "hidden_dim": shape.hidden_dim,
        "num_layers": shape.num_layers,
        "num_heads": shape.num_heads,
    }
    peers = []
    if torch_python is not None:
        product_settings = {"program": "product", "threads": threads, "size": product.size}
        peers = [
            TorchProduct(TORCH_PRODUCT, torch_python, product_settings),
            *(Peer(name, torch_python, {**settings, "program": program}) for name, program in PEERS.items()),
        ]
    taken = measure_turns([product, *peers, *ours], STEPS, rounds)
    for peer in peers:
        peer.close()
    rate = product.operations() / statistics.median(taken.pop(product.name))
    report: dict[str, Any] = {**describe_benchmark(peers), "matrix_product_operations_per_second": rate}
    if peers:
        torch_rate = product.operations() / statistics.median(taken.pop(TORCH_PRODUCT))
        report["torch_matrix_product_operations_per_second"] = torch_rate
    report["parties"] = {}
    for name, seconds in taken.items():
        numbers = {"step_ms": 1e3 * statistics.median(seconds)}
        for other in (*PEERS, "standard"):
            if other in taken and other != name:
                pairs = zip(seconds, taken[other], strict=True)
                numbers[f"time_over_{other}"] = statistics.median(own / theirs for own, theirs in pairs)
        report["parties"][name] = numbers
    for party in ours:
        share = party.operations() / statistics.median(taken[party.name]) / rate
        report["parties"][party.name]["share_of_matrix_product_rate"] = share
    return report


def measure_tuned(
    *, rounds: int, models: Sequence[str] | None = None, batches: Sequence[int] = BATCHES, recipe_name: str = TUNED
) -> dict[str, Any]:
    """Milliseconds per training step of every model of the tuned protocol, each with its own optimizer.

    Medians over rounds in which all models take turns, one batch size after the other.
    """
    recipe, shapes = find_recipe(recipe_name), []
    for batch in batches:
        sized = replace(recipe, batch_size=batch)
        taken = measure_turns([Ours(label, sized) for label in models or recipe.models], TUNED_STEPS, rounds)
        step_ms = {label: 1e3 * statistics.median(seconds) for label, seconds in taken.items()}
        shapes.append({"batch_size": batch, "length": recipe.length, "step_ms": step_ms})
    return {**describe_benchmark([]), "recipe": recipe_name, "rounds": rounds, "shapes": shapes}
