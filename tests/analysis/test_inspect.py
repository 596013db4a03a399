"""All analyses in one place: main numbers, sentences, and the command that prints and draws them."""

import csv
import json

import numpy as np
import pytest

from tests.analysis.grid import TEXT
from tests.app.models import save_tiny_model
from tests.factories import GRID, build
from tipshare import analysis
from tipshare.__main__ import main
from tipshare.analysis.inspection import byte_name, spectra_in_words


@pytest.mark.parametrize(
    ("values", "verdict", "correlation"),
    [
        ([1.0, 2.0, 3.0], "grows", 1.0),
        ([3.0, 2.0, 1.0], "falls", -1.0),
        ([1.0, 1.0, 1.0], "is the same", 0.0),
        ([1.0, 3.0, 0.5, 2.0], "rises and falls", 0.0),
        ([1.0, 1.01, 1.02], "rises and falls", 1.0),  # by less than 5 %
        ([2.0], "is the same", 0.0),
    ],
)
def test_growth_is_named_by_ratio_and_rank_correlation(values, verdict, correlation):
    growth = analysis.growth_of(np.array(values))
    assert growth.verdict == verdict
    assert growth.correlation == pytest.approx(correlation)


def test_sentences_say_what_the_numbers_say():
    t = np.array([0.5, 1.0])
    values = np.array([[[1.0 + 0j]], [[2.0j]]])
    words = spectra_in_words("up-down", analysis.Spectrum(t, values, np.abs(values)))
    assert "up-down grows with depth: 1.00 at t = 0.50, 2.00 at t = 1.00 (rank correlation +1.00)" in words
    assert [byte_name(byte) for byte in (32, 10, 97, 200)] == ["space", "newline", "\u201ca\u201d", "0xC8"]


def test_main_numbers_are_those_of_the_parts():
    # Its weights depend on the number of depth steps too.
    model = build(GRID["smooth features of t, and dt"])
    found = analysis.inspect_text(model, TEXT, 4)
    numbers = json.loads(json.dumps(analysis.main_numbers(found), allow_nan=False))
    assert numbers["depth_steps"] == 4
    assert numbers["lens"]["loss"][-1] == pytest.approx(model.score(TEXT, steps=4).loss, abs=1e-4)
    poles = analysis.ssm_poles(model, TEXT, 4)
    np.testing.assert_allclose(numbers["state_space"]["largest_exponent_per_byte"], poles.exponents.max(axis=1))
    sizes = analysis.stream_change(model, TEXT, 4).update_sizes.mean(axis=1)
    np.testing.assert_allclose(numbers["stream"]["update_size"], sizes)
    radius = analysis.spectrum(model.freeze(4), "query-key").radius.max(axis=1)
    np.testing.assert_allclose(numbers["spectra"]["query-key"]["radius"], radius, rtol=1e-5)


@pytest.mark.slow
def test_the_command_prints_the_numbers_and_writes_the_figures(tmp_path, capsys):
    save_tiny_model("time-indexed-ssm", tmp_path / "model")
    assert main(["inspect", str(tmp_path / "model"), "to be", "--out", str(tmp_path / "out"), "--place", "3"]) == 0
    printed = capsys.readouterr().out
    for name in ("spectra", "states", "lyapunov", "sensitivity", "lens", "stream", "attention", "figures"):
        assert f"\n{name} " in printed
    names = {"eigenvalues", "magnitudes", "sensitivity", "lens", "stream"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        f"{name}.{end}" for name in names for end in ("png", "pdf", "csv")
    }
    with (tmp_path / "out" / "sensitivity.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["byte"]) for row in rows] == [10, *b"to "]
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["", "--json"], "cannot analyse an empty text"),
        (["a" * 257], "the text has 257 bytes: give at most 256"),
        (["abc", "--place", "9"], "place=9 is not a position of this text"),
        (["abc", "--steps", "5"], "has exactly 2 layers"),
    ],
)
def test_wrong_input_is_one_line(arguments, message, tmp_path, capsys):
    save_tiny_model("standard", tmp_path / "model")
    assert main(["inspect", str(tmp_path / "model"), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
