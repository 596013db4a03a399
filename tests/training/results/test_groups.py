"""Which runs share a table."""

import re

import pytest

from tests.training.results.factory import group_of, make_record, runs
from tipshare.config import KINDS
from training.results.groups import choose_group, group_records
from training.results.summaries import LOSS


def test_recipes_corpora_budgets_and_data_never_share_a_group():
    records = [
        make_record(),
        make_record(recipe="quick"),
        make_record(recipe="quick", settings={"corpus": "shakespeare"}),
        make_record(recipe="quick", settings={"corpus": "shakespeare", "num_steps": 2000}, num_steps=2000),
        make_record(recipe="quick", settings={"corpus": "shakespeare"}, data={"train": {"sha256": "1" * 64}}),
    ]
    groups = group_records(records)
    assert len(groups) == 5
    assert len({each.name for each in groups}) == 5
    assert all(re.fullmatch(r"[\w.=+-]+", each.name) for each in groups)
    assert groups[0].name == "published-1000"
    assert groups[1].name == "quick-wikitext-2"


def test_names_of_groups_cannot_leave_the_folder():
    (group,) = group_records([make_record(recipe="../../etc/passwd")])
    assert "/" not in group.name
    assert not group.name.startswith(".")


def test_names_of_groups_fit_a_file_system():
    long = "tuned-1000" + "+model.hidden_dim=64" * 20
    names = [group.name for group in group_records([make_record(recipe=long), make_record(recipe=long + "0")])]
    assert len(set(names)) == 2
    assert all(len(name) < 200 for name in names)


def test_a_question_that_fits_several_groups_is_refused_with_the_choices():
    records = [make_record(), make_record(settings={"corpus": "shakespeare"}), make_record(recipe="quick")]
    with pytest.raises(ValueError, match=r"fits 2 groups.*published-1000-wikitext-2, published-1000-shakespeare"):
        choose_group(records, recipe="published-1000")
    with pytest.raises(ValueError, match=r"no run of recipe='nothing'.*quick"):
        choose_group(records, recipe="nothing")
    with pytest.raises(ValueError, match="no records"):
        choose_group([], recipe="quick")
    assert choose_group(records, recipe="published-1000-shakespeare").corpus == "shakespeare"
    assert choose_group(records, recipe="quick").labels == ("standard",)


def test_kinds_come_first_and_in_order_whatever_the_order_of_the_records():
    records = [make_record(kind) for kind in reversed(KINDS)]
    records.insert(0, make_record("neural-ode", model="neural-ode, t constant", config={"time": "constant"}))
    assert group_of(*records).labels == (*KINDS, "neural-ode, t constant")


def test_two_models_under_one_label_are_told_apart():
    group = group_of(*runs(), *runs(config={"hidden_dim": 32}))
    assert group.labels == ("standard (hidden_dim=16)", "standard (hidden_dim=32)")
    assert [len(each) for each in group.runs.values()] == [3, 3]


def test_a_run_given_twice_counts_once():
    assert [run.final[LOSS] for run in group_of(make_record(loss=2.0), make_record(loss=1.9)).runs["standard"]] == [1.9]
