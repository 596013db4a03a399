"""Tables of the page on what we promise, from the report `promise.json` that fuzzing and crowds write."""

from typing import Any

from training.results.views.table import Column, Table

# What each sort of hostile case changes.
SORTS = {
    "checkpoints": "checkpoint folders",
    "adapters": "adapter folders",
    "records": "run records",
    "uploads": "uploaded record files",
    "states": "saved training states",
    "calls": "values sent to the page",
}


def _count(value: float) -> str:
    return f"{value:,.0f}"


def fuzz_table(report: dict[str, Any]) -> Table:
    """How the hostile cases of every sort ended."""
    columns = [
        Column("what", "what was changed", is_text=True),
        Column("cases", "cases", _count),
        Column("refused", "refused in words", _count),
        Column("equal", "read exactly as it stands", _count),
        Column("megabytes", "most memory of a case (MB)", ".1f"),
    ]
    rows = [
        {"what": words, **found, "equal": found["cases"] - found["refused"], "megabytes": found["most_memory"] / 1e6}
        for sort, words in SORTS.items()
        if (found := report.get("fuzz", {}).get(sort))
    ]
    return Table(rows, columns)


def loading_table(report: dict[str, Any]) -> Table:
    """Processor time to load with every byte checked, and without."""
    columns = [
        Column("name", "checkpoint", is_text=True),
        Column("megabytes", "weights (MB)", ".1f"),
        Column("verified_ms", "checked (ms)", ".0f"),
        Column("unverified_ms", "unchecked (ms)", ".0f"),
        Column("ratio", "checked / unchecked", ".2f"),
    ]
    rows = [{**each, "megabytes": each["bytes"] / 1e6} for each in report.get("loading", {}).get("checkpoints", ())]
    return Table(rows, columns)


def endings_table(report: dict[str, Any]) -> Table:
    """How many runs and pushes were ended at random moments, and how many came to the usual end after that."""
    columns = [
        Column("what", "what was ended", is_text=True),
        Column("killed", "by SIGKILL", _count),
        Column("full", "by a full disk", _count),
        Column("finished", "completed as if undisturbed", _count),
    ]
    words = {"training": "training and the final save", "push": "push"}
    endings = report.get("endings", {})
    rows = [{"what": what, **endings[name]} for name, what in words.items() if name in endings]
    return Table(rows, columns)


def crowd_table(report: dict[str, Any]) -> Table:
    """Visits by kind of visitor, of a crowd without and of one with visitors who misbehave."""
    columns = [
        Column("crowd", "crowd", is_text=True),
        Column("kind", "visitor", is_text=True),
        Column("visits", "visits", _count),
        Column("refused", "refused in words", _count),
        Column("p50", "p50 (s)", ".2f"),
        Column("p95", "p95 (s)", ".2f"),
    ]
    rows = [
        {"crowd": f"{crowd['clients']} + {crowd['hostile']} hostile", **row}
        for crowd in report.get("crowds", ())
        for row in crowd["rows"]
    ]
    return Table(rows, columns)


def crowd_in_words(report: dict[str, Any]) -> str:
    """Failures and memory of every crowd, and how soon the server was at rest afterwards."""
    return "\n".join(
        f"- {crowd['clients']} visitors and {crowd['hostile']} hostile ones for {crowd['seconds']:.0f} s: "
        f"{sum(crowd['failures'].values())} failures; {_memory(crowd['memory_mb'])}{_rest(crowd.get('rest'))}."
        for crowd in report.get("crowds", ())
    )


def _memory(samples: list[float]) -> str:
    if not samples:
        return "the server's memory was not read"
    middle = samples[len(samples) // 2]
    return f"the server had {samples[0]:,.0f} MB at first, {middle:,.0f} half way, {samples[-1]:,.0f} at last"


def _rest(seconds: float | None) -> str:
    return "" if seconds is None else f", and was at rest {seconds:.0f} s after all had left"
