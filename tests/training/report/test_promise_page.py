"""The tables of what was measured for the page on what we promise."""

import json

from training.report.parts import NOT_YET, from_reports
from training.results.views.promise_tables import (
    crowd_in_words,
    crowd_table,
    endings_table,
    fuzz_table,
    loading_table,
)

ROW = {"kind": "writes", "visits": 1200, "refused": 0, "p50": 1.0, "p95": 2.5}
REPORT = {
    "fuzz": {
        "records": {"cases": 1500, "refused": 1000, "most_memory": 2_500_000},
        "checkpoints": {"cases": 20, "refused": 20, "most_memory": 0},
    },
    "loading": {
        "checkpoints": [
            {"name": "standard", "bytes": 19_480_000, "verified_ms": 18.2, "unverified_ms": 5.0, "ratio": 3.64}
        ]
    },
    "endings": {
        "push": {"killed": 25, "full": 0, "finished": 25},
        "training": {"killed": 75, "full": 31, "finished": 40},
    },
    "crowds": [
        {
            "clients": 28,
            "hostile": 4,
            "seconds": 120.0,
            "failures": {"a": 2},
            "memory_mb": [900, 950, 960],
            "rows": [ROW],
        }
    ],
}


def texts(table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.cells()]


def test_what_was_measured_is_in_the_tables():
    assert texts(fuzz_table(REPORT)) == [
        ["checkpoint folders", "20", "20", "0", "0.0"],
        ["run records", "1,500", "1,000", "500", "2.5"],
    ]
    assert texts(loading_table(REPORT)) == [["standard", "19.5", "18", "5", "3.64"]]
    assert texts(endings_table(REPORT)) == [
        ["training and the final save", "75", "31", "40"],
        ["push", "25", "0", "25"],
    ]
    assert texts(crowd_table(REPORT)) == [["28 + 4 hostile", "writes", "1,200", "0", "1.00", "2.50"]]
    assert crowd_in_words(REPORT) == (
        "- 28 visitors and 4 hostile ones for 120 s: 2 failures; "
        "the server had 900 MB at first, 950 half way, 960 at last."
    )


def test_what_was_not_measured_is_said(tmp_path):
    (tmp_path / "promise.json").write_text(json.dumps({"fuzz": REPORT["fuzz"]}))
    assert from_reports("promise", crowd_in_words, crowd_table)((), tmp_path) == NOT_YET
    assert "1,500" in (from_reports("promise", fuzz_table)((), tmp_path) or "")
    assert from_reports("another", fuzz_table)((), tmp_path) == NOT_YET
