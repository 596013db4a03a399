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
