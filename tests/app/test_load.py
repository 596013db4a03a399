"""The load tool against a running demo: a crowd waits its turn, and nobody fails."""

import subprocess
import sys

from app.load import Tally, memory_mb, report, run_clients
from tests.app.server import ROOT


def test_a_small_crowd_is_served(server):
    before = memory_mb(server.process.pid)
    tally = run_clients(server.address, clients=6, seconds=0, length=20)  # everyone asks once, however long that takes
    assert tally.failures == []
    assert len(tally.seconds) == 6
    assert len(tally.page_seconds) == 1
    assert memory_mb(server.process.pid) < before + 400


def test_a_server_that_is_not_there_is_a_failure(capsys):
    tally = run_clients("http://127.0.0.1:9", clients=1, seconds=0.1, length=20)
    assert tally.failures
    report(tally, 1, None, None)
    assert f"{len(tally.failures)} failures" in capsys.readouterr().out


def test_failures_are_counted(capsys):
    tally = Tally()
    tally.add(1.0)
    tally.add(3.0, "broken")
    tally.add(3.0, "broken")
    report(tally, 2, 100.0, 110.0)
    printed = capsys.readouterr().out
    assert "2 clients, 3 requests, 2 failures" in printed
    assert "2 x broken" in printed
    assert "100 MB before, 110 MB after" in printed


def test_the_tool_explains_itself():
    run = subprocess.run(
        [sys.executable, "-m", "app.load", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "--clients" in run.stdout
