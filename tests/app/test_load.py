"""The crowd test against a running demo: a crowd waits its turn, nobody fails, and those who misbehave are refused."""

import argparse
import json
import math
import os
import subprocess
import sys

import pytest

from tests.load import tally as tally_module
from tests.load.__main__ import main, read_mix
from tests.load.crowd import run_crowd
from tests.load.tally import (
    MOST_GROWTH,
    Tally,
    memory_mb,
    percentile_95,
    print_report,
    processor_seconds,
    seconds_until_rest,
    write_record,
)
from tests.load.visitors import GOOD, HOSTILE


def test_a_small_crowd_is_served_and_those_who_misbehave_are_refused(server):
    # Everyone comes once, however long that takes.
    tally = run_crowd(
        server.address,
        clients=len(GOOD),
        hostile=len(HOSTILE),
        seconds=0,
        length=20,
        process=server.process.pid,
    )
    assert tally.failures == {}
    assert set(tally.seconds) == {*GOOD, *HOSTILE}
    assert set(tally.refusals.elements()) == set(HOSTILE)
    assert max(tally.memory) < 4_000


def test_a_server_that_is_not_there_is_a_failure(capsys):
    assert main(["http://127.0.0.1:9", "--clients", "1", "--hostile", "0", "--seconds", "0"]) == 1
    assert "1 visits, 1 failures" in capsys.readouterr().out


def test_failures_and_refusals_are_counted_by_kind(capsys, tmp_path):
    tally = Tally(memory=[100.0, 110.0, 110.0, 110.0, 110.0])
    for seconds in range(1, 22):
        tally.add("writes", seconds)
    tally.add("floods", 1.0, refused=True)
    tally.add("floods", 3.0, failure="broken")
    tally.add("floods", 3.0, failure="broken")
    print_report(tally)
    printed = capsys.readouterr().out
    assert "24 visits, 2 failures" in printed
    assert "2 x floods: broken" in printed
    assert "floods: 3 visits, 1 refused in words, p50 3.00 s" in printed
    assert "writes: 21 visits, p50 11.00 s, p95 20.00 s" in printed
    assert "from the start to the end: 100, 110, 110, 110, 110\n" in printed
    for _ in range(2):
        write_record(tally, tmp_path / "report.json", clients=3)
    first, second = json.loads((tmp_path / "report.json").read_text())["crowds"]
    assert first == second
    assert first["rows"][1]["visits"] == 21


@pytest.mark.parametrize(
    ("memory", "grows"),
    [
        ([], False),
        ([500.0] * 40, False),
        ([100.0] * 5 + [900.0] * 35, False),  # what is compiled first stays
        ([500.0 * (1 + MOST_GROWTH / 2)] * 20 + [500.0] * 20, False),
        ([500.0] * 20 + [500.0 * (1 + 1.5 * MOST_GROWTH)] * 20, True),
    ],
)
def test_memory_that_keeps_growing_is_noticed(memory, grows, capsys):
    tally = Tally(memory=memory)
    assert tally.memory_grows == grows
    print_report(tally)
    assert ("keeps growing" in capsys.readouterr().out) == grows


def test_memory_of_a_process_that_ended_is_not_known():
    assert memory_mb(None) is None
    assert memory_mb(2**22 + 5) is None
    assert percentile_95([3.0]) == 3.0


def test_visitors_train_if_they_are_asked_for(server):
    tally = run_crowd(server.address, clients={"trains": 2, "scores": 1}, seconds=0, process=server.process.pid)
    assert tally.failures == {}
    assert {kind: len(each) for kind, each in tally.seconds.items()} == {"trains": 2, "scores": 1}
    # The crowd looked at the server until nothing was left running.
    assert tally.rest is not None
    assert not tally.is_restless


def test_a_mix_names_kinds_and_numbers():
    assert read_mix("writes=24,trains=4") == {"writes": 24, "trains": 4}
    for wrong in ("sings=1", "writes", "writes=x"):
        with pytest.raises(argparse.ArgumentTypeError, match="the kinds are writes"):
            read_mix(wrong)


def test_a_server_that_goes_on_working_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(tally_module, "SPELL", 0.2)
    monkeypatch.setattr(tally_module, "PATIENCE", 0.5)
    monkeypatch.setattr(tally_module, "REST", 0.0)  # however little a loaded machine leaves for the process
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            while not processor_seconds(busy.pid):
                pass
            assert seconds_until_rest(busy.pid) == math.inf
        finally:
            busy.kill()
    monkeypatch.setattr(tally_module, "PATIENCE", 30.0)
    monkeypatch.setattr(tally_module, "REST", 0.05)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as idle:
        assert seconds_until_rest(idle.pid) < 30
    assert seconds_until_rest(None) is None
    assert processor_seconds(os.getpid()) > 0
    print_report(Tally(rest=math.inf))
    assert "still worked" in capsys.readouterr().out
