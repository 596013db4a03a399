"""A few runs and pushes that are ended at random moments; `python -m tests.hostile --endings 130` ends many."""

import pytest

from tests.hostile.interrupted import interrupt
from tests.hostile.report import add_endings


@pytest.mark.slow
def test_what_was_ended_at_random_moments_and_repeated_is_as_if_nothing_had_happened(tmp_path):
    counts = interrupt(tmp_path, seed=5, endings=6)
    assert counts["training"]["killed"]
    assert counts["training"]["full"]
    assert counts["push"]["finished"]
    assert add_endings({"endings": counts}, counts)["push"]["finished"] == 2 * counts["push"]["finished"]
