"""What a model gains and loses at other numbers of depth steps: loss, bytes per second, time to the first byte."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import haliax as hax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from haliax import NamedArray
from jaxtyping import Array

from tipshare.analysis.demand import demand_of
from tipshare.generation.streaming import generate
from tipshare.model.language_model import LanguageModel
from tipshare.model.ssm import Ssm
from training.benchmarks.peer import measure_turns
from training.engine.evaluation import Evaluator

PROMPT_BYTES, NEW_BYTES, TOP_K = 32, 200, 40
# Nats between the predictions of two successive depths, below which a byte would go no deeper.
EXIT_LIMITS = (1e-3, 1e-2, 3e-2, 1e-1)
ROWS = 8

Say = Callable[[str], None]


class Writer:
    """Generation with a model at one number of depth steps."""

    def __init__(self, model: LanguageModel, steps: int, solver: str, text: bytes):
        self.name = str(steps)
        self._model, self._text, self._depth = model, text, {"steps": steps, "solver": solver}

    def seconds(self, new_bytes: int) -> float:
        """Seconds to write this many bytes: after a short prompt or, for one byte, after one that fills the context."""
        prompt = self._text[:PROMPT_BYTES] if new_bytes > 1 else self._text
        began = time.perf_counter()
        generate(self._model, prompt, max_bytes=new_bytes, top_k=TOP_K, **self._depth)
        return time.perf_counter() - began


def measure_depths(
    model: LanguageModel,
    windows: np.ndarray,
    depths: Sequence[int],
    *,
    solver: str = "euler",
    rounds: int = 5,
    say: Say = lambda _: None,
) -> list[dict[str, Any]]:
    """Loss, speed and first-byte time at every number of depth steps; speeds are medians over rounds of turns.

    Args:
        windows: The text to score, {window, byte}; the first byte of each is only read.
    """
    if not model.config.is_continuous:
        raise ValueError(
            f"{model.config.kind} with weights={model.config.weights!r} has a block of its own for each of its "
            f"{model.steps} depth steps: its depth is fixed, and there is nothing to compare"
        )
    rows: list[dict[str, Any]] = [
        {"depth_steps": each, "block_evaluations": model.block_evaluations(each, solver=solver)} for each in depths
    ]
    parameters, static = eqx.partition(model, eqx.is_array)
    evaluator = Evaluator(static)
    for number, row in enumerate(rows, start=1):
        say(f"loss at {row['depth_steps']} depth steps ({number} of {len(rows)})")
        row["loss"] = evaluator.on_windows(parameters, windows, steps=row["depth_steps"], solver=solver).loss
    text = windows[0, 1 : model.config.max_position_embeddings].astype(np.uint8).tobytes()
    writers = [Writer(model, each, solver, text) for each in depths]
    say(f"speed of generation: {rounds} rounds of {len(rows)} turns, after one to compile")
    taken = measure_turns(writers, NEW_BYTES, rounds)
    say(f"first byte after {len(text)}: {rounds} rounds of {len(rows)} turns, after one to compile")
    first = measure_turns(writers, 1, rounds)
    for row, writer in zip(rows, writers, strict=True):
        row["bytes_per_second"] = NEW_BYTES / statistics.median(taken[writer.name])
        row["first_byte_seconds"] = statistics.median(first[writer.name])
    return rows


def measure_early_exit(model: LanguageModel, windows: np.ndarray, say: Say = lambda _: None) -> list[dict[str, float]]:
    """What stopping early would give: a byte goes no deeper once two successive depths predict nearly the same.

    Loss and average depth are those with the caches of a full pass: the best that any filling of the depths that were
    left out can give. Operations count, beside the depths that were used, a prediction at each of them, and at the
    others the keys, values and states that later bytes will read, as CALM (Schuster et al., 2022) fills them from the
    last hidden state. Nothing for a model of a single depth step.
    """
    steps, config = model.steps, model.config
    if steps == 1:
        return []
    losses, apart = [], []
    for first in range(0, len(windows), ROWS):
        say(f"early exit: windows {first + 1} to {min(first + ROWS, len(windows))} of {len(windows)}")
        # The last rows again, so that there is one shape to compile; they are cut off below.
        batch = windows[np.minimum(np.arange(first, first + ROWS), len(windows) - 1)].astype(np.int32)
        kept = min(ROWS, len(windows) - first)
        found = (np.asarray(each)[:, :kept].reshape(len(each), -1) for each in _along_depth(model, batch))
        for all_found, each in zip((losses, apart), found, strict=True):
            all_found.append(each)
    loss, divergence = np.concatenate(losses, axis=1), np.concatenate(apart, axis=1)
    demand, caches = demand_of(config), _cache_entries(model)
    block, head = demand.entries_per_step, config.hidden_dim * config.vocab_size
    rows = []
    for limit in EXIT_LIMITS:
        agrees = divergence < limit
        last = np.where(agrees.any(axis=0), agrees.argmax(axis=0) + 1, steps - 1)  # from 0
        depth = float(last.mean()) + 1
        operations = depth * (block + head) + (steps - depth) * caches
        rows.append(
            {
                "limit": limit,
                "average_depth": depth,
                "loss": float(loss[last, np.arange(loss.shape[1])].mean(dtype=np.float64)),
                "share_of_operations": operations / (steps * block + head),
            }
        )
    return rows


@eqx.filter_jit
def _along_depth(model: LanguageModel, windows: np.ndarray) -> tuple[Array, Array]:
    """Loss of a prediction read at every depth, {depth, window, byte}, and its KL divergence from the one before."""
    tokens, targets = (hax.named(side, ("batch", "position")) for side in (windows[:, :-1], windows[:, 1:]))
    path: Any = model.hidden(tokens, keep_path=True)[1]
    log_probs = hax.nn.log_softmax(model.unembed(path), model.config.Vocab)
    loss = -log_probs.take("vocab", targets).rearrange(("depth", "batch", "position")).array
    p = log_probs.rearrange(("depth", "batch", "position", "vocab")).array
    return loss, jnp.sum(jnp.exp(p[1:]) * (p[1:] - p[:-1]), axis=-1)


def _cache_entries(model: LanguageModel) -> int:
    """Numbers that a byte is multiplied with at one depth to fill its caches alone: keys, values and states."""
    config = model.config
    block = eqx.filter_eval_shape(lambda: config.build(key=jr.key(0)).freeze()).block
    layers: list[Any] = []
    if isinstance(block.mixer, Ssm):
        layers = [each for each in (block.mixer.enter, block.mixer.step_size, block.mixer.into_state) if each]
    weights = [each.weight for each in layers if each.weight is not None]
    return _entries(block.attention.qkv.weight) * 2 // 3 + sum(map(_entries, weights))


def _entries(weight: NamedArray) -> int:
    """Of one depth."""
    return weight.size // (weight.axis_size("depth") if weight.has_axis("depth") else 1)
