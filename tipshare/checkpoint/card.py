"""The model card of a checkpoint: README.md, made from its config and its record, with no number typed by hand."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tipshare.checkpoint.layout import FIGURE
from tipshare.checkpoint.record import LONGEST_TEXT, RunRecord
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
    record: RunRecord | None = None,
    *,
    name: str = ".",
    comparison: Iterable[ComparisonRow] = (),
    figure: bool = False,
) -> str:
    """README.md of a checkpoint.

    Args:
        record: The run that made the weights; without one, the card says nothing about training and results.
        name: What `tipshare.load` is called with in the example: the repository's id, or "." for the folder itself.
        comparison: Models to compare with, this one among them.
        figure: Whether the folder holds the gate figure.
    """
    rows = list(comparison)
    sections = [
        _front_matter(config, record, name),
        f"# {_title(config, name)}\n\nThis is {summary_of(config)}.\n\n$$ {equation_of(config)} $$",
        _usage(name),
        "## Parameters\n\n" + _parameter_table(config),
        training_section(record) if record else "",
        _results(record, rows),
        f"## Gates along depth\n\n![Gate values by depth]({FIGURE})" if figure else "",
        "## Limits\n\n" + LIMITS.format(context=config.max_position_embeddings),
        "## Citation\n\n" + CITATIONS,
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _title(config: ModelConfig, name: str) -> str:
    return name.split("/")[-1] if "/" in name else config.kind


def _front_matter(config: ModelConfig, record: RunRecord | None, name: str) -> str:
    from huggingface_hub import EvalResult

    corpus = str(record.settings.get("corpus", "unnamed")) if record else ""
    dataset = next((place for prefix, place in DATASETS.items() if corpus.lower().startswith(prefix)), None)
    results = [
        EvalResult(
            task_type="text-generation",
            dataset_type=dataset or "text",
            dataset_name=corpus,
            metric_type=metric,
            metric_name=METRICS[metric],
            metric_value=value,
        )
        for metric, value in _metrics(record).items()
    ]
    return front_matter(
        [config.kind],
        datasets=[dataset] if dataset else None,
        model_name=_title(config, name),
        eval_results=results or None,
    )


def front_matter(tags: list[str], **fields: Any) -> str:
    """The YAML head of a card that the Hub reads."""
    from huggingface_hub import ModelCardData

    data = ModelCardData(
        language=["en"],
        license=LICENSE,
        library_name="tipshare",
        pipeline_tag="text-generation",
        tags=[*TAGS, *tags],
        **fields,
    )
    return f"---\n{data.to_yaml()}\n---"


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
    rows = [f"| {part} | {count:,} |" for part, count in counts.parts.items()]
    lines = ["| part | parameters |", "|---|---:|", *rows]
    used = count_parameters(config, frozen=True).total
    return "\n".join([*lines, f"| **total** | **{counts.total:,}** |", "", f"One pass reads {used:,} of its weights."])


def training_section(record: RunRecord) -> str:
    facts = {
        "Recipe": record.recipe,
        "Seed": record.seed,
        "Training steps": f"{record.num_steps:,}",
        "Bytes seen": f"{record.tokens_seen:,}",
        **{key: value for key, value in sorted(record.settings.items()) if not isinstance(value, Mapping)},
    }
    lines = [f"- {_plain(name)}: {_plain(value)}" for name, value in facts.items() if value is not None]
    for split, about in sorted(record.data.items()):
        if isinstance(about, Mapping) and "sha256" in about:
            size = f", {about['bytes']:,} bytes" if isinstance(about.get("bytes"), int) else ""
            lines.append(f"- Data, {_plain(split)}: sha256 `{_plain(about['sha256'])}`{size}")
    repeat = f"\n\nTo repeat the run:\n\n```\n{_plain(record.command, LONGEST_TEXT)}\n```" if record.command else ""
    return "## Training\n\n" + "\n".join(lines) + repeat


def _results(record: RunRecord | None, rows: list[ComparisonRow]) -> str:
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


def _metrics(record: RunRecord | None) -> dict[str, float]:
    """The final numbers of a record that the card has a name for."""
    return {metric: float(record.final[metric]) for metric in METRICS if metric in record.final} if record else {}


def _plain(value: Any, longest: int = 300) -> str:
    """A value on one line, without the characters that Markdown takes for a table, a code block or a tag."""
    text = " ".join(str(value).split())
    return text.replace("|", "/").replace("`", "'").replace("<", "&lt;")[:longest]
