"""A run record as training writes it."""

from typing import Any

from tests.checkpoint.configs import TINY
from tipshare import count_parameters
from tipshare.checkpoint import RunRecord


def make_record(kind: str, *, seed: int = 0, loss: float = 1.5) -> RunRecord:
    return RunRecord(
        recipe="tiny",
        kind=kind,
        model=kind,
        seed=seed,
        config=TINY[kind].to_dict(),
        settings={"corpus": "wikitext-2", "batch_size": 8, "learning_rate": 0.002, "schedule": {"warmup": 10}},
        command=f"python -m training train tiny --model {kind} --seed {seed}",
        data={"valid": {"bytes": 1234, "sha256": "ab" * 32}},
        num_steps=1000,
        tokens_seen=1_024_000,
        curve=[[0, 5.5], [1000, loss]],
        train_curve=[],
        final={"valid_loss": loss, "valid_loss_full": loss + 0.01, "bits_per_byte": loss / 0.6931},
        parameters={"total": count_parameters(TINY[kind]).total},
        speed={"step_ms": 5.0},
        memory={},
        flops={},
        machine={"jax": "0.10.2"},
        commit="0" * 40,
        finished="2026-01-01T00:00:00Z",
    )


def record_fields(kind: str, **changes: Any) -> dict[str, Any]:
    return make_record(kind, **changes).to_fields()
