"""Valid run records with invented numbers, for tests."""

from typing import Any

from tipshare.config import KINDS
from training.results.groups import RunGroup, group_records
from training.results.published import FIVE_SEEDS
from training.results.records import RunRecord

SIZES = {"num_layers": 2, "hidden_dim": 16, "num_heads": 2, "max_position_embeddings": 16}


def make_record(kind: str = "standard", seed: int = 42, loss: float = 2.0, **changes: Any) -> RunRecord:
    """A small valid record; `changes` replace whole fields, and `config` only the config fields it names."""
    config = KINDS[kind](**{**SIZES, **changes.pop("config", {})}).to_dict()
    fields: dict[str, Any] = {
        "recipe": "published-1000",
        "kind": kind,
        "model": kind,
        "seed": seed,
        "config": config,
        "settings": {"corpus": "wikitext-2", "batch_size": 8},
        "command": f"python -m training train published-1000 --model {kind} --seed {seed}",
        "data": {"train": {"sha256": "0" * 64, "bytes": 1000}},
        "num_steps": 1000,
        "tokens_seen": 1_024_000,
        "curve": [[500, loss + 0.5], [1000, loss]],
        "train_curve": [[500, loss + 0.4], [1000, loss - 0.1]],
        "final": {"valid_loss": loss},
        "parameters": {"embedding": 4096, "block": 6000, "head": 4128, "total": 14_224, "effective": 14_224},
        "speed": {"step_ms": 20.0, "step_ms_spread": 0.5, "compile_seconds": 3.0, "tokens_per_second": 51_200.0},
        "memory": {"step_argument_bytes": 1e8, "step_temporary_bytes": 3e8, "peak_process_bytes": 9e8},
        "flops": {"per_token": 1e5},
        "machine": {"device": "cpu", "jax": "0.10.2"},
        "commit": "0123456",
        "finished": "2026-01-01T00:00:00+00:00",
    }
    return RunRecord(**{**fields, **changes})


def published_records() -> list[RunRecord]:
    """Records whose losses are the published ones of the five-seed table, for tests of the statistics."""
    return [
        make_record(result.kind, seed, loss)
        for result in FIVE_SEEDS.results
        for seed, loss in zip(FIVE_SEEDS.seeds, result.seed_losses, strict=True)
    ]


def group_of(*records: RunRecord) -> RunGroup:
    """The one group that some records belong to."""
    (group,) = group_records(records)
    return group


def runs(kind: str = "standard", losses: tuple[float, ...] = (2.0, 2.1, 2.2), **changes: Any) -> list[RunRecord]:
    """A record per loss, with seeds 0, 1, 2, ..."""
    return [make_record(kind, seed, loss, **changes) for seed, loss in enumerate(losses)]


# Kind, config fields and loss of what the tuned recipes are taken to have found; nothing below was ever trained.
TUNED_MODELS: dict[str, tuple[str, dict[str, Any], float]] = {
    "standard": ("standard", {}, 1.35),
    "neural-ode": ("neural-ode", {}, 1.50),
    "time-indexed-ssm": ("time-indexed-ssm", {}, 1.37),
    "time-indexed-ssm, tied": ("time-indexed-ssm", {"weights": "tied"}, 1.39),
    "own + ssm": ("time-indexed-ssm", {"weights": "own"}, 1.31),
    "standard, 0.8 M": ("standard", {"hidden_dim": 8}, 1.45),
}
TUNED_SETTINGS = {"corpus": "wikitext-2", "batch_size": 8, "length": 128, "optimizer": "muon", "learning_rate": 4e-3}
DRAWN_SETTINGS = {"depth_steps": [3, 6, 12], "depth_weights": [1.0, 2.0, 1.0]}


def tuned_run(label: str, seed: int, *, recipe: str = "tuned-1000", **changes: Any) -> RunRecord:
    """A run of a tuned recipe; models of any depth were read at several, which costs little if depths were drawn."""
    kind, config, loss = TUNED_MODELS[label]
    is_drawn = recipe == "elastic-1000"
    # No two models differ by the same amount on every seed, which would leave no spread to test.
    place = list(TUNED_MODELS).index(label) + 2
    loss += 0.01 * seed + 0.001 * (seed * place % 7) + is_drawn * (0.005 + 0.001 * seed)
    final = {"valid_loss": loss}
    if "own" not in label and kind != "standard":
        slope = 0.004 if is_drawn else 0.2
        final |= {f"valid_loss_at_steps_{steps}": loss + slope * abs(steps - 6) for steps in (2, 3, 6, 12, 18)}
    settings = {**TUNED_SETTINGS, **(DRAWN_SETTINGS if is_drawn else {})}
    fields: dict[str, Any] = {"recipe": recipe, "model": label, "final": final, "settings": settings}
    fields["curve"] = [[500, loss + 0.5], [1000, loss]]
    return make_record(kind, seed, **{**fields, **changes}, config={"num_layers": 6, **config})


def tuned_records(seeds: tuple[int, ...] = (0, 1, 2)) -> list[RunRecord]:
    """Invented runs of `tuned-1000` and, of the models with any depth, of `elastic-1000`."""
    elastic = ("time-indexed-ssm", "time-indexed-ssm, tied", "neural-ode")
    runs = [tuned_run(label, seed) for label in TUNED_MODELS for seed in seeds]
    return runs + [tuned_run(label, seed, recipe="elastic-1000") for label in elastic for seed in seeds]


def step_report(standard: float = 40.0, shared: float = 20.0) -> dict[str, Any]:
    """An invented report of `benchmark steps`."""
    step_ms = {"standard": standard, "time-indexed-ssm": shared}
    return {"machine": {"device": "cpu"}, "shapes": [{"batch_size": 8, "length": 128, "step_ms": step_ms}]}
