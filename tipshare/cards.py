"""The model card, made from a record."""

from typing import Any

from tipshare.config import ModelConfig


def make_card(config: ModelConfig, record: dict[str, Any] | None = None) -> str:
    """README.md of a checkpoint."""
    return f"# {config.kind}\n"
