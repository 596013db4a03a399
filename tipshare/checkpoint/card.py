"""The model card of a checkpoint: README.md, made from its config and its record, with no number typed by hand."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tipshare.checkpoint.layout import FIGURE
from tipshare.config import ModelConfig
from tipshare.kinds import equation_of, summary_of
from tipshare.model.parameters import count_parameters

LICENSE = "mit"
TAGS = ("tipshare", "jax", "equinox", "haliax", "byte-level", "parameter-sharing")
# Corpora by the first part of their name, and where they live on the Hub.
DATASETS = {"wikitext": "Salesforce/wikitext"}

METRICS = {
    "valid_loss": "Validation loss, fixed windows (nats per byte)",
    "valid_loss_full": "Validation loss, whole split (nats per byte)",
    "test_loss_full": "Test loss, whole split (nats per byte)",
    "bits_per_byte": "Bits per byte",
    "perplexity": "Perplexity per byte",
}

LIMITS = """\
- It reads and writes bytes and was trained on little text: expect the look of language, not facts.
- Its context is {context} bytes; earlier text is not seen.
- It has had no safety training. What it writes can be wrong or offensive."""

CITATIONS = """\
- A. Tong, T. Nguyen-Tang, D. Lee, D. Nguyen, T. Tran, D. Hall, C. Kang and J. Choi. *Neural ODE Transformers:
  Analyzing Internal Dynamics and Adaptive Fine-tuning*. ICLR 2025.
- A. Gu and T. Dao. *Mamba: Linear-Time Sequence Modeling with Selective State Spaces*. 2023. arXiv:2312.00752.
- R. T. Q. Chen, Y. Rubanova, J. Bettencourt and D. Duvenaud. *Neural Ordinary Differential Equations*. NeurIPS 2018.
  arXiv:1806.07366."""


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """One model over several runs: mean loss in nats per byte, and its 95 % interval."""

    model: str
    parameters: int
    runs: int
    mean: float
    low: float | None = None
    high: float | None = None


def make_card(
    config: ModelConfig,
    record: Mapping[str, Any] | None = None,
    *,
    name: str = ".",
    comparison: Iterable[ComparisonRow] = (),
    figure: bool = False,
) -> str:
    """README.md of a checkpoint.

    Args:
        record: The run that made the weights, as JSON fields; what it lacks is left out of the card.
        name: What `tipshare.load` is called with in the example: the repository's id, or "." for the folder itself.
        comparison: Models to compare with, this one among them.
        figure: Whether the folder holds the gate figure.
    """
    record = record or {}
    rows = list(comparison)
    sections = [
        _front_matter(config, record, name),
        f"# {_title(config, name)}\n\nThis is {summary_of(config)}.\n\n$$ {equation_of(config)} $$",
        _usage(name),
        "## Parameters\n\n" + _parameter_table(config),
        _training(record),
        _results(record, rows),
        f"## Gates along depth\n\n![Gate values by depth]({FIGURE})" if figure else "",
        "## Limits\n\n" + LIMITS.format(context=config.max_position_embeddings),
        "## Citation\n\n" + CITATIONS,
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _title(config: ModelConfig, name: str) -> str:
    return name.split("/")[-1] if "/" in name else config.kind


def _front_matter(config: ModelConfig, record: Mapping[str, Any], name: str) -> str:
    """The YAML head; every text is written as a JSON string, which YAML reads too."""
    corpus = _corpus(record)
    dataset = next((place for prefix, place in DATASETS.items() if corpus.lower().startswith(prefix)), None)
    lines = [
        "---",
        "library_name: tipshare",
        "pipeline_tag: text-generation",
        f"license: {LICENSE}",
        "language:",
        "- en",
        *(["datasets:", f"- {dataset}"] if dataset else []),
        "tags:",
        *(f"- {tag}" for tag in (*TAGS, config.kind)),
    ]
    metrics = _metrics(record)
    if metrics:
        lines += [
            "model-index:",
            f"- name: {json.dumps(_title(config, name))}",
            "  results:",
            "  - task:",
            "      type: text-generation",
            "    dataset:",
            f"      name: {json.dumps(corpus or 'unnamed')}",
            f"      type: {dataset or 'text'}",
            "    metrics:",
        ]
        for key, value in metrics.items():
            lines += [f"    - type: {key}", f"      name: {json.dumps(METRICS[key])}", f"      value: {value!r}"]
    return "\n".join([*lines, "---"])


def _usage(name: str) -> str:
    return f"""\
## Use

```python
import tipshare

model = tipshare.load({json.dumps(name)})
print(model.score("The cat sat on the mat.").bits_per_byte)
```

The tokenizer works in `transformers` as it is:

```python
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({json.dumps(name)})
print(tokenizer("The cat")["input_ids"])
```"""


def _parameter_table(config: ModelConfig) -> str:
    counts = count_parameters(config)
    parts = ("embedding", "block", "gates", "generators", "head")
    rows = [(part, getattr(counts, part)) for part in parts if getattr(counts, part)]
    lines = ["| part | parameters |", "|---|---:|", *(f"| {part} | {count:,} |" for part, count in rows)]
    used = count_parameters(config, frozen=True).total
    return "\n".join([*lines, f"| **total** | **{counts.total:,}** |", "", f"One pass reads {used:,} of its weights."])


def _training(record: Mapping[str, Any]) -> str:
    if not record:
        return ""
    settings = dict(sorted(_mapping(record.get("settings")).items()))
    facts = {
        "Recipe": record.get("recipe"),
        "Seed": record.get("seed"),
        "Training steps": _count(record.get("num_steps")),
        "Bytes seen": _count(record.get("tokens_seen")),
        **{key: value for key, value in settings.items() if not isinstance(value, Mapping)},
    }
    lines = [f"- {name}: {_plain(value)}" for name, value in facts.items() if value is not None]
    for split, about in sorted(_mapping(record.get("data")).items()):
        about = _mapping(about)
        if about.get("sha256"):
            size = f", {_count(about.get('bytes') or about.get('size'))} bytes" if len(about) > 1 else ""
            lines.append(f"- Data, {split}: sha256 `{_plain(about['sha256'])}`{size}")
    command = record.get("command")
    repeat = f"\n\nTo repeat the run:\n\n```\n{_plain(command)}\n```" if command else ""
    return "## Training\n\n" + "\n".join(lines) + repeat


def _results(record: Mapping[str, Any], rows: list[ComparisonRow]) -> str:
    metrics = _metrics(record)
    if not metrics and not rows:
        return ""
    parts = ["## Results"]
    if metrics:
        lines = [f"| {METRICS[key]} | {value:.4f} |" for key, value in metrics.items()]
        parts.append("\n".join(["| this checkpoint | |", "|---|---:|", *lines]))
    if rows:
        lines = ["| model | parameters | runs | loss (nats per byte) | 95 % interval |", "|---|---:|---:|---:|---|"]
        for row in sorted(rows, key=lambda row: row.mean):
            known = row.low is not None and row.high is not None
            interval = f"{row.low:.4f} to {row.high:.4f}" if known else "one run"
            lines.append(f"| {row.model} | {row.parameters:,} | {row.runs} | {row.mean:.4f} | {interval} |")
        parts.append("\n".join(lines))
        parts.append("Intervals are over seeds (Student's t).")
    return "\n\n".join(parts)


def _metrics(record: Mapping[str, Any]) -> dict[str, float]:
    """The finite final numbers of a record that the card has a name for."""
    final = _mapping(record.get("final"))
    numbers = {key: final[key] for key in METRICS if isinstance(final.get(key), int | float)}
    return {key: float(value) for key, value in numbers.items() if math.isfinite(value)}


def _corpus(record: Mapping[str, Any]) -> str:
    return _plain(_mapping(record.get("settings")).get("corpus") or "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> str | None:
    return f"{value:,}" if isinstance(value, int) else None


def _plain(value: Any) -> str:
    """A value on one line, with nothing in it that Markdown would take for a table, a block or a tag."""
    text = " ".join(str(value).split())
    return text.replace("|", "/").replace("`", "'").replace("<", "&lt;")[:300]
