"""A few hundred hostile cases of every sort; `make fuzz MINUTES=10` runs many thousands."""

import json

import numpy as np
import pytest

from tests.hostile.fuzz import ROUND, CaseError, fuzz, offline, run_case, runners
from tests.hostile.limits import MOST_MEMORY, TooMuchError, limited
from tests.hostile.mutations import mutate_json, mutate_weights
from tests.hostile.report import add_counts

ROUNDS = 30
# Of a sort, the share that is refused at least. A damaged state falls back to the one before it.
REFUSED = {sort: 0.25 for sort in ROUND} | {"states": 0.05}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return runners(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("sort", ROUND)
def test_hostile_input_is_refused_in_words_or_read_exactly(sort, runs):
    with offline():
        ended = [run_case(sort, runs[sort], 27, number) for number in range(ROUNDS * ROUND[sort])]
    refused = sum(not loaded for loaded, _ in ended)
    assert refused > len(ended) * REFUSED[sort], "most changes do harm, or the generator changes nothing"
    assert max(memory for _, memory in ended) <= MOST_MEMORY


def test_the_counts_of_several_calls_add_up(tmp_path):
    counts = fuzz(tmp_path, seed=1, rounds=1)
    assert {sort: each.cases for sort, each in counts.items()} == ROUND
    report = {"fuzz": add_counts({}, counts)}
    more = fuzz(tmp_path / "more", seed=2, rounds=1, sorts=["calls"])
    both = add_counts(json.loads(json.dumps(report)), more)
    assert {sort: each["cases"] for sort, each in both.items()} == {**ROUND, "calls": 2 * ROUND["calls"]}


def test_an_error_that_is_not_ours_ends_the_cases_with_the_seed_that_repeats_it():
    def broken(random: np.random.Generator) -> bool:
        raise KeyError("model")

    with pytest.raises(CaseError, match="records, seed 3, case 14: KeyError: 'model'"):
        run_case("records", broken, 3, 14)


def test_a_case_may_not_take_more_memory_than_it_is_given():
    with pytest.raises(TooMuchError, match="bytes of memory, more than 200,000,000"), limited():
        np.ones(2 * MOST_MEMORY, np.uint8).sum()


def test_mutations_change_nearly_everything():
    content = json.dumps({"a": [1, 2, {"b": "text"}], "c": 1.5}).encode()
    random = np.random.default_rng(0)
    assert sum(mutate_json(content, random) != content for _ in range(100)) > 85
    weights = (8).to_bytes(8, "little") + b'{"a": 1}' + b"data" * 20
    assert sum(mutate_weights(weights, random) != weights for _ in range(100)) > 85
