"""Bytes per second of generation for every kind, compared with GPT-2 of the same shape in `transformers`."""

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.random as jr
import numpy as np

from tipshare.compilation import VARIABLE
from tipshare.config import KINDS
from tipshare.generation.streaming import generate, stream
from tipshare.model.language_model import LanguageModel
from tipshare.presets import preset
from training.benchmarks.depth import NEW_BYTES, PROMPT_BYTES, TOP_K, Writer
from training.benchmarks.peer import Peer, describe_benchmark, measure_turns

PEER = "transformers GPT-2"
EARLY, LATE = 200, 4_000
# The time-invariant state space of the published shape is compared with the selective one of the same width.
MODELS = (*((kind, "default") for kind in KINDS), ("time-indexed-ssm", "published"))
LONG_CONTEXT_BYTES = LATE + 200
DEPTHS = (3, 6, 12)


class Ours:
    """Generation with one kind of this package, in its default or its published shape."""

    def __init__(self, kind: str, shape: str = "default"):
        self.kind, self.shape = kind, shape
        self.name = kind if shape == "default" else f"{kind}, {shape} shape"
        self.model: LanguageModel = eqx.filter_jit(preset(kind, shape).build)(key=jr.key(0))

    def seconds(self, batch: int) -> float:
        prompts = np.random.default_rng(0).integers(0, 256, (batch, PROMPT_BYTES), np.uint8)
        texts = [row.tobytes() for row in prompts]
        began = time.perf_counter()
        generate(self.model, texts, max_bytes=NEW_BYTES, top_k=TOP_K)
        return time.perf_counter() - began


def measure_positions(model: LanguageModel, turns: int = 7) -> float:
    """Time of a byte near position 4,000 relative to one near position 200: median over chunks."""
    ratios = []
    for seed in range(turns):
        stamps = [(0, time.perf_counter())]
        for piece in stream(
            model, b"a" * PROMPT_BYTES, max_bytes=LONG_CONTEXT_BYTES, top_k=TOP_K, utf8=False, seed=seed
        ):
            stamps.append((stamps[-1][0] + len(piece.trace), time.perf_counter()))
        costs = [((n0 + n1) / 2, (t1 - t0) / (n1 - n0)) for (n0, t0), (n1, t1) in itertools.pairwise(stamps)]
        around = [[cost for place, cost in costs if abs(place - centre) < 200] for centre in (EARLY, LATE)]
        ratios.append(statistics.median(around[1]) / statistics.median(around[0]))
    return statistics.median(ratios)


def measure_other_depths(ours: Sequence[Ours], depths: Sequence[int], rounds: int) -> dict[str, dict[str, Any]]:
    """Bytes per second by depth steps, of the models that have a choice; batch 1.

    Ratios are those of the time at the model's own number of depth steps, computed within a round: of writing, and of
    reading a prompt that fills the context.
    """
    found: dict[str, dict[str, Any]] = {}
    for party in (each for each in ours if each.shape == "default" and each.model.config.is_continuous):
        text = np.random.default_rng(0).integers(0, 256, party.model.config.max_position_embeddings - 1, np.uint8)
        own = party.model.steps
        writers = [Writer(party.model, steps, "euler", text.tobytes()) for steps in dict.fromkeys((*depths, own))]
        writing, reading = (measure_turns(writers, new_bytes, rounds) for new_bytes in (NEW_BYTES, 1))
        found[party.name] = {
            writer.name: {
                "bytes_per_second": NEW_BYTES / statistics.median(writing[writer.name]),
                "writing_speed": _ratio(writing[str(own)], writing[writer.name]),
                "reading_speed": _ratio(reading[str(own)], reading[writer.name]),
            }
            for writer in writers
        }
    return found


def _ratio(theirs: Sequence[float], own: Sequence[float]) -> float:
    """How many times faster than theirs, as the median over rounds."""
    return statistics.median(first / second for first, second in zip(theirs, own, strict=True))


FIRST_BYTE = """
import sys, time, equinox, jax, tipshare, tipshare.compilation, tipshare.presets
tipshare.compilation.use_compilation_cache()
model = equinox.filter_jit(tipshare.presets.preset(*sys.argv[1:]).build)(key=jax.random.key(0))
jax.block_until_ready(jax.tree.leaves(model))
began = time.perf_counter()
next(tipshare.stream(model, "The history of ", top_k=40))
print(time.perf_counter() - began)
"""


def measure_first_byte(kind: str, shape: str) -> tuple[float, float]:
    """Seconds from a loaded model to its first piece in a new process: with an empty compilation cache, then with a
    filled one.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, VARIABLE: folder}
        command = [sys.executable, "-c", FIRST_BYTE, kind, shape]
        runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    return float(runs[0].stdout), float(runs[1].stdout)


def measure(
    torch_python: str | None,
    *,
    rounds: int,
    threads: int,
    models: Sequence[tuple[str, str]] = MODELS,
    batches: Sequence[int] = (1, 16),
    depths: Sequence[int] = DEPTHS,
    speed_only: bool = False,
) -> dict[str, Any]:
    """Medians over rounds in which all parties take turns; ratios are computed within a round.

    Args:
        models: Kinds and presets.
        depths: Numbers of depth steps at which the models with a choice are measured too.
    """
    ours = [Ours(kind, shape) for kind, shape in models]
    shape = KINDS["standard"]()
    settings = {
        "program": "generation",
        "threads": threads,
        "prompt_bytes": PROMPT_BYTES,
        "new_bytes": NEW_BYTES,
        "top_k": TOP_K,
        "hidden_dim": shape.hidden_dim,
        "num_layers": shape.num_layers,
        "num_heads": shape.num_heads,
    }
    peers = [Peer(PEER, torch_python, settings)] if torch_python else []
    report: dict[str, Any] = describe_benchmark(peers)
    parties = report["parties"] = {party.name: {} for party in [*peers, *ours]}
    for batch in batches:
        taken = measure_turns([*peers, *ours], batch, rounds)
        for name, seconds in taken.items():
            numbers = {"bytes_per_second": batch * NEW_BYTES / statistics.median(seconds)}
            if peers:
                numbers["ratio_to_gpt2"] = _ratio(taken[PEER], seconds)
            parties[name][f"batch_{batch}"] = numbers
    for each in peers:
        each.close()
    for party in () if speed_only else ours:
        numbers = parties[party.name]
        numbers["cost_at_4000_over_200"] = measure_positions(party.model)
        cold, warm = measure_first_byte(party.kind, party.shape)
        numbers["first_byte_seconds"] = {"cold": cold, "warm_cache": warm}
    report["depths"] = measure_other_depths(ours, depths, rounds)
    return report
