"""What `python -m training benchmark` measured."""

from typing import Any

from tipshare.kinds import title_of
from training.results.views.table import Column, Table, make_table

# A party of a benchmark, and its numbers.
Party = tuple[str, dict[str, Any]]


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


def training_table(report: dict[str, Any]) -> Table:
    """Milliseconds per training step of every party, relative to torch and to `standard`."""
    columns: list[Column[Party]] = [
        Column("training step", lambda party: party[0], title_of, is_text=True),
        Column("ms", lambda party: party[1]["step_ms"], ".0f"),
        Column("time relative to plain torch", lambda party: party[1].get("time_over_plain torch"), ".2f"),
        Column("time relative to `standard`", lambda party: party[1].get("time_over_standard"), ".2f"),
        Column(
            "share of matrix-product rate",
            lambda party: party[1].get("share_of_matrix_product_rate"),
            lambda share: f"{100 * share:.0f} %",
        ),
    ]
    return make_table(columns, list(report["parties"].items()), missing="")


def generation_table(report: dict[str, Any]) -> Table:
    """Bytes per second of every party alone and in a batch, relative to GPT-2; what late bytes and a start cost."""

    def speed(batch: str, suffix: str) -> list[Column[Party]]:
        return [
            Column(f"bytes/s{suffix}", lambda party: party[1][batch]["bytes_per_second"], ",.0f"),
            Column(
                f"against GPT-2{suffix}",
                lambda party: party[1][batch].get("ratio_to_gpt2"),
                lambda ratio: f"{ratio:.1f}x",
            ),
        ]

    def first_byte(start: str, words: str) -> Column[Party]:
        def seconds(party: Party) -> float | None:
            return party[1].get("first_byte_seconds", {}).get(start)

        return Column(f"first byte, {words}", seconds, lambda value: f"{value:.1f} s")

    columns: list[Column[Party]] = [
        Column("generation", lambda party: party[0], title_of, is_text=True),
        *speed("batch_1", ""),
        *speed("batch_16", ", batch 16"),
        Column("byte 4,000 over byte 200", lambda party: party[1].get("cost_at_4000_over_200"), ".2f"),
        first_byte("cold", "cold"),
        first_byte("warm_cache", "compiled before"),
    ]
    return make_table(columns, list(report["parties"].items()), missing="")
