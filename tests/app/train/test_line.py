"""One run at a time: the others wait in the order in which they came, and see how many are before them."""

import pytest

from app.train.line import LEFT, Line


def test_the_first_trains_and_the_others_move_up():
    line = Line()
    first, second, third = (line.join(name) for name in ("ada", "ben", "cy"))
    assert [each.ahead for each in (first, second, third)] == [0, 1, 2]
    first.leave()
    first.leave()
    assert [each.ahead for each in (first, second, third)] == [LEFT, 0, 1]
    assert len(line) == 2


def test_who_waits_may_leave_and_who_trains_stays_until_the_run_ends():
    line = Line()
    first, second, third = (line.join(name) for name in ("ada", "ben", "cy"))
    line.leave("ben")
    line.leave("ada")
    line.leave("nobody")
    assert [each.ahead for each in (first, second, third)] == [0, LEFT, 1]


def test_a_second_run_of_a_visitor_and_a_long_line_are_refused():
    line = Line(most_waiting=1)
    line.join("ada")
    with pytest.raises(ValueError, match="a run of yours is under way: stop it first"):
        line.join("ada")
    line.join("ben")
    with pytest.raises(ValueError, match="1 runs are waiting already: try again"):
        line.join("cy")
