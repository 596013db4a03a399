"""The card of an adapter folder: README.md, made from its description and its record."""

import json

from tipshare.adapters.description import Description
from tipshare.checkpoint.card import front_matter, training_section
from tipshare.checkpoint.record import RunRecord
from tipshare.config import ModelConfig
from tipshare.kinds import summary_of

ALONG_DEPTH = {
    "shared": "the same at every depth",
    "per-depth": "one for each depth step",
    "time-indexed": "scaled by polynomials of the depth t",
}


def make_card(description: Description, config: ModelConfig, size: int, record: RunRecord | None = None) -> str:
    """README.md of an adapter folder.

    Args:
        config: Of the adapted model.
        size: Bytes of the adapter weights.
    """
    on_hub = "/" in description.base.name and not description.base.name.startswith(".")
    depth = f", at {config.steps} depth steps" if description.depth_steps else ""
    layers = " The base was first given weights of its own in every layer." if description.to_layers else ""
    parts = [
        front_matter(["lora", config.kind], base_model=description.base.name if on_hub else None),
        f"# Adapter of {description.base.name}",
        f"Low-rank adapters (rank {description.rank}, alpha {description.alpha:g}, {size:,} bytes), "
        f"{ALONG_DEPTH[description.along_depth]}, for {', '.join(description.targets)} of `{description.base.name}`"
        f"{depth}.{layers} The base is {summary_of(config)}.",
        "## Use\n\n```python\nimport tipshare\n\n"
        f"model = tipshare.load({json.dumps('.')})  # finds the base, and refuses another one\n"
        'print(model.score("The cat sat on the mat.").bits_per_byte)\n```',
        f"The base's weights have the digest `{description.base.digest}`.",
        training_section(record) if record else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
