"""The page on what trained models do inside is that of the bundled checkpoints, and can be computed again."""

import json
from pathlib import Path

import numpy as np
import pytest

from tipshare import analysis
from tipshare.checkpoint import list_bundled, open_checkpoint
from training.report.readme import DYNAMICS_PAGE, between_marks, update_documents
from training.results.views.dynamics_tables import growth_in_words, growth_table

ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "checkpoints" / "benchmarks"
AGAIN = "run `python -m training dynamics`, which rewrites report and page"


@pytest.fixture(scope="module")
def report() -> dict:
    return json.loads((BENCHMARKS / "dynamics.json").read_text(encoding="utf-8"))


def test_the_report_is_of_the_bundled_weights(report):
    assert set(report["models"]) == set(list_bundled())
    for name, found in report["models"].items():
        sums = open_checkpoint(name).sums
        assert found["weights"] == {file: sums[file].sha256 for file in found["weights"]}, AGAIN


@pytest.mark.parametrize("name", ["time-indexed-mlp", "time-indexed-ssm"])
def test_numbers_of_the_report_are_computed_again(report, name):
    model, found = open_checkpoint(name).load("float32"), report["models"][name]
    spectra = analysis.spectra(model)
    assert set(spectra) == set(found["spectra"])
    for product, each in spectra.items():
        numbers = found["spectra"][product]
        np.testing.assert_allclose(numbers["magnitude"], each.magnitude.mean(axis=1), rtol=1e-3)
        np.testing.assert_allclose(numbers["effective_rank"], each.rank.mean(axis=1), rtol=1e-3)
        assert numbers["verdict"] == analysis.growth_of(each.magnitude.mean(axis=1)).verdict
    lens = analysis.lens(model, report["text"])
    np.testing.assert_allclose(found["lens"]["divergence"], lens.divergences.mean(axis=1), rtol=1e-3, atol=1e-6)
    change = analysis.stream_change(model, report["text"])
    np.testing.assert_allclose(found["stream"]["update_size"], change.update_sizes.mean(axis=1), rtol=1e-3)
    if model.config.mixer == "ssm":
        constants = np.median(analysis.ssm_poles(model, report["text"]).time_constants, axis=1)
        np.testing.assert_allclose(found["state_space"]["median_time_constant"], constants, rtol=1e-2)


def test_growth_is_told_per_kind():
    def spectrum(magnitude: list[float], verdict: str) -> dict:
        return {
            "magnitude": magnitude,
            "radius": magnitude,
            "effective_rank": [2.0, 3.0],
            "last_over_first": magnitude[-1] / magnitude[0],
            "rank_correlation_with_depth": 1.0,
            "verdict": verdict,
        }

    spectra = {"query-key": spectrum([1.0, 2.0], "grows"), "value-output": spectrum([1.0, 0.5], "falls")}
    report = {"models": {"a": {"kind": "standard", "spectra": spectra}}}
    assert growth_in_words(report) == (
        "The mean magnitude of the eigenvalues grows with depth in 1 of 2 products of weights:\n\n"
        "- Standard: query-key grows; value-output falls."
    )
    assert [cell.text for cell in growth_table(report).cells()[0]][:5] == [
        "Standard",
        "query-key",
        "1.000",
        "2.000",
        "2.00",
    ]


def test_one_page_is_updated_alone(tmp_path, report):
    page = tmp_path / DYNAMICS_PAGE
    page.parent.mkdir(parents=True)
    page.write_text("\n".join(between_marks(name, "old") for name in ("eigenvalues", "flow", "lens")))
    update_documents(tmp_path, (), BENCHMARKS, [DYNAMICS_PAGE])
    assert "old" not in page.read_text()
    assert report["text"] in page.read_text()
