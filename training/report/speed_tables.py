"""Markdown tables of what `python -m training benchmark` measured."""

from typing import Any

from tipshare.config import KINDS
from tipshare.kinds import title_of
from training.report.markdown import markdown_table


def machine_in_words(report: dict[str, Any]) -> str:
    """What a benchmark ran on, as far as its report tells, and what one large matrix product takes there."""
    machine = report.get("machine", {})
    words = f"On {machine.get('device', 'a processor that its report does not name')}"
    rate, torch_rate = (report.get(f"{prefix}matrix_product_operations_per_second") for prefix in ("", "torch_"))
    if rate is not None:
        words += f", where one large matrix product runs at {rate / 1e9:.0f} billion operations per second"
    if torch_rate is not None:
        words += f" in XLA and at {torch_rate / 1e9:.0f} in torch {machine['torch'].partition('+')[0]}"
    return f"{words}:"


def training_table(report: dict[str, Any]) -> str:
    """Milliseconds per training step of every party, against torch and against `standard`."""
    heads = ("training step", "ms", "of plain torch's time", "of `standard`'s time", "share of matrix-product rate")
    rows = [
        (
            _title(name),
            f"{numbers['step_ms']:.0f}",
            _ratio(numbers.get("time_over_plain torch")),
            _ratio(numbers.get("time_over_standard")),
            _percent(numbers.get("share_of_matrix_product_rate")),
        )
        for name, numbers in report["parties"].items()
    ]
    return markdown_table(heads, rows)


def generation_table(report: dict[str, Any]) -> str:
    """Bytes per second of every party alone and in a batch, against GPT-2; what late bytes and a start cost."""
    heads = (
        "generation",
        "bytes/s",
        "against GPT-2",
        "bytes/s, batch 16",
        "against GPT-2, batch 16",
        "byte 4,000 over byte 200",
        "first byte, cold",
        "first byte, compiled before",
    )
    rows = []
    for name, numbers in report["parties"].items():
        speeds = [numbers[batch] for batch in ("batch_1", "batch_16")]
        first = numbers.get("first_byte_seconds", {})
        rows.append(
            (
                _title(name),
                *(
                    shown
                    for speed in speeds
                    for shown in (f"{speed['bytes_per_second']:,.0f}", _times(speed.get("ratio_to_gpt2")))
                ),
                _ratio(numbers.get("cost_at_4000_over_200")),
                *(_seconds(first.get(start)) for start in ("cold", "warm_cache")),
            )
        )
    return markdown_table(heads, rows)


def _title(name: str) -> str:
    return title_of(name) if name in KINDS else name


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}x"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} s"
