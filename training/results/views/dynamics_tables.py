"""Tables and sentences of the page on what trained models do inside, from the report of `training dynamics`."""

from typing import Any

from tipshare.kinds import title_of
from training.results.groups import collect
from training.results.views.table import Column, Table

GROWS = "grows"


def growth_in_words(report: dict[str, Any]) -> str:
    """For which models the magnitude of eigenvalues grows with depth, as Tong et al. claim of theirs."""
    rows = _spectra(report)
    grown = sum(row["verdict"] == GROWS for row in rows)
    lines = [
        f"The mean magnitude of the eigenvalues grows with depth in {grown} of {len(rows)} products of weights:",
        "",
    ]
    for kind, products in collect(rows, lambda row: row["kind"]).items():
        verdicts = collect(products, lambda row: row["verdict"])
        words = [_said(verdict, [row["product"] for row in found]) for verdict, found in verdicts.items()]
        lines.append(f"- {title_of(kind)}: {'; '.join(words)}.")
    return "\n".join(lines)


def _said(verdict: str, products: list[str]) -> str:
    if len(products) > 1:
        plurals = {"grows": "grow", "falls": "fall", "is the same": "are the same"}
        verdict = plurals.get(verdict, "rise and fall")
    return f"{' and '.join(products)} {verdict}"


def growth_table(report: dict[str, Any]) -> Table:
    """Per model and product: mean magnitude at the first and last depth, its trend, and the largest eigenvalue."""
    columns = [
        Column("kind", "model", title_of, is_text=True),
        Column("product", "product of weights", is_text=True),
        Column("magnitude.0", "mean magnitude, first t", ".3f"),
        Column("magnitude.-1", "last t", ".3f"),
        Column("last_over_first", "last / first", ".2f"),
        Column("rank_correlation_with_depth", "rank correlation with t", "+.2f"),
        Column("verdict", "with depth it", is_text=True),
        Column("largest", "largest eigenvalue", ".2f"),
        Column("effective_rank.-1", "effective rank, last t", ".1f"),
    ]
    return Table(_spectra(report), columns)


def flow_table(report: dict[str, Any]) -> Table:
    """Lyapunov exponents, sensitivity and attention of every model at the text."""
    columns = [
        Column("kind", "model", title_of, is_text=True),
        Column("lyapunov.largest", "largest Lyapunov exponent", ".2f"),
        Column("sensitivity.largest_exponent", "largest of one prediction", ".2f"),
        Column("sensitivity.half_of_it_within", "bytes with half of its sensitivity", ".0f"),
        Column("attention.look_back.0", "mean look-back in bytes, first t", ".1f"),
        Column("attention.look_back.-1", "last t", ".1f"),
        Column("state_space.median_time_constant.0", "median time constant of states in bytes, first t", ".0f"),
        Column("state_space.median_time_constant.-1", "last t", ".0f"),
    ]
    return Table(list(report["models"].values()), columns, missing="")


def reading_table(report: dict[str, Any]) -> Table:
    """Per model and depth: what the lens reads there, and what the depth step before it changed."""
    columns = [
        Column("kind", "model", title_of, is_text=True),
        Column("t", "depth t", ".2f"),
        Column("loss", "loss if it stopped there (nats/byte)", ".3f"),
        Column("divergence", "KL to the last (nats)", ".3f"),
        Column("entropy", "entropy (bits)", ".2f"),
        Column("update_size", "update / stream", ".2f"),
        Column("update_angle", "degrees to the next update", ".0f"),
        Column("effective_rank", "effective rank of the stream", ".1f"),
    ]
    rows = []
    for each in report["models"].values():
        lens, stream = each["lens"], each["stream"]
        for step, t in enumerate(lens["t"]):
            angles = stream["update_angle"]
            rows.append(
                {
                    "kind": each["kind"],
                    "t": t,
                    **{name: lens[name][step] for name in ("loss", "divergence", "entropy")},
                    "update_size": stream["update_size"][step - 1] if step else None,
                    "update_angle": angles[step - 1] if 0 < step <= len(angles) else None,
                    "effective_rank": stream["effective_rank"][step],
                }
            )
    return Table(rows, columns, missing="")


def text_in_words(report: dict[str, Any]) -> str:
    """What was read."""
    return f"All at the text \u201c{report['text']}\u201d, {len(report['text'].encode())} bytes."


def _spectra(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "kind": each["kind"],
            "product": name,
            "largest": max(found["radius"]),
            **found,
        }
        for each in report["models"].values()
        for name, found in each["spectra"].items()
    ]
