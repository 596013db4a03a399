"""What visitors met: how long each visit took, what failed, and the server's memory over time."""

import json
import math
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

# Growth of memory after a warm-up, as a share of it, above which it counts as a leak.
MOST_GROWTH = 0.10
# A server is at rest that takes less than this share of a processor for SPELL seconds; one that is not after PATIENCE
# seconds has left something running.
REST, SPELL, PATIENCE = 0.05, 2.0, 60.0


@dataclass
class Tally:
    """The visits of a crowd; shared between threads.

    Attributes:
        memory: Of the server, in megabytes, every second.
        rest: Seconds until the server was at rest after all had left; infinite if it never was, None if unknown.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    memory: list[float] = field(default_factory=list)
    rest: float | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, seconds: float, *, refused: bool = False, failure: str | None = None) -> None:
        """One visit of a visitor of some kind."""
        with self.guard:
            self.seconds.setdefault(kind, []).append(seconds)
            self.refusals[kind] += refused
            if failure is not None:
                self.failures[f"{kind}: {failure}"] += 1

    @property
    def memory_grows(self) -> bool:
        """Whether the server took more and more: the last quarter of the time against the one before the middle."""
        quarter = len(self.memory) // 4
        if quarter < 2:
            return False
        return median(self.memory[-quarter:]) > (1 + MOST_GROWTH) * median(self.memory[quarter : 2 * quarter])

    @property
    def is_restless(self) -> bool:
        """Whether something went on running after all had left."""
        return self.rest is not None and math.isinf(self.rest)

    def rows(self) -> list[dict[str, Any]]:
        """One for each kind of visitor."""
        return [
            {
                "kind": kind,
                "visits": len(each),
                "refused": self.refusals[kind],
                "p50": median(each),
                "p95": percentile_95(each),
            }
            for kind, each in sorted(self.seconds.items())
        ]


def percentile_95(values: list[float]) -> float:
    """The value that 95 % of all do not exceed; of few values the largest."""
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def memory_mb(process: int | None) -> float | None:
    """Resident memory of a process in megabytes; None if it is not known."""
    status = Path(f"/proc/{process}/status")
    if process is None or not status.exists():
        return None
    line = next((line for line in status.read_text().splitlines() if line.startswith("VmRSS")), None)
    return None if line is None else int(line.split()[1]) / 1024


def processor_seconds(process: int | None) -> float | None:
    """Processor time that a process has taken so far; None if it is not known."""
    stat = Path(f"/proc/{process}/stat")
    if process is None or not stat.exists():
        return None
    # The name in brackets may hold anything; user and system time are the 12th and 13th field after it.
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds_until_rest(process: int | None) -> float | None:
    """Seconds until a process has nothing more to do; infinite if it goes on, None if there is nothing to read."""
    began = time.monotonic()
    while (before := processor_seconds(process)) is not None and time.monotonic() - began < PATIENCE:
        start = time.monotonic()
        time.sleep(SPELL)
        after = processor_seconds(process)
        if after is not None and after - before < REST * SPELL:
            return start - began
    return None if before is None else math.inf


def print_report(tally: Tally) -> None:
    """Print the results."""
    print(f"{sum(map(len, tally.seconds.values()))} visits, {sum(tally.failures.values())} failures")
    for failure, count in tally.failures.items():
        print(f"  {count} x {failure}")
    for row in tally.rows():
        refused = f", {row['refused']} refused in words" if row["refused"] else ""
        print(f"{row['kind']}: {row['visits']} visits{refused}, p50 {row['p50']:.2f} s, p95 {row['p95']:.2f} s")
    if tally.memory:
        steps = [tally.memory[round(part * (len(tally.memory) - 1) / 4)] for part in range(5)]
        words = ", which keeps growing" if tally.memory_grows else ""
        print(
            f"memory of the server (MB), from the start to the end: {', '.join(f'{each:.0f}' for each in steps)}{words}"
        )
    if tally.rest is not None:
        print(
            f"the server still worked {PATIENCE:.0f} s after the last visitor had left"
            if tally.is_restless
            else f"the server was at rest {tally.rest:.0f} s after the last visitor had left"
        )


def write_record(tally: Tally, path: Path, **how: Any) -> None:
    """Add the report to a JSON file, beside those of other crowds."""
    report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = {
        **how,
        "rows": tally.rows(),
        "failures": dict(tally.failures),
        "memory_mb": tally.memory[:: max(1, len(tally.memory) // 20)],
        "rest": None if tally.is_restless else tally.rest,
    }
    report.setdefault("crowds", []).append(found)
    path.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n", encoding="utf-8")
