"""The record of what was measured: counts of hostile cases, and what verification costs."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.hostile.fuzz import Count
from tipshare.files import write_text
from training.engine.machine import code_commit, describe_machine


def read_report(path: Path | None) -> dict[str, Any]:
    """The report so far; empty without one."""
    return {} if path is None or not path.exists() else json.loads(path.read_text(encoding="utf-8"))


def add_counts(report: dict[str, Any], counts: dict[str, Count]) -> dict[str, Any]:
    """The counts of all calls so far, with those of one more."""
    found = dict(report.get("fuzz", {}))
    for sort, each in counts.items():
        before = found.get(sort, asdict(Count()))
        found[sort] = {
            "cases": before["cases"] + each.cases,
            "refused": before["refused"] + each.refused,
            "most_memory": max(before["most_memory"], each.most_memory),
        }
    return found


def add_endings(report: dict[str, Any], counts: dict[str, dict[str, int]]) -> dict[str, Any]:
    """The endings of all calls so far, with those of one more."""
    known = report.get("endings", {})
    return {
        name: {how: number + known.get(name, {}).get(how, 0) for how, number in found.items()}
        for name, found in counts.items()
    }


def write_report(path: Path, parts: dict[str, Any]) -> None:
    """Replace parts of the report, and say which code and machine they are of."""
    report = {**read_report(path), **parts, "machine": describe_machine(1), "commit": code_commit()}
    write_text(path, json.dumps(report, indent=1, sort_keys=True) + "\n")
