"""The differences between two states."""

from __future__ import annotations

from runtime.history.scoped_state import differences
from runtime.history.state_at import History
from runtime.sessions.state import Change
from tests.unit.history.events import event


def test_two_moments_can_be_compared_in_either_direction() -> None:
    history = History([event(k=1), event(k=2, new=3), event(k=1)], baseline={"k": 0}, present={"k": 1, "new": 3})
    start, first, second, third = map(history.state_at, (-1, 0, 1, 2))
    assert differences(first, second) == [Change("k", 1, 2, "changed"), Change("new", None, 3, "added")]
    assert differences(second, first) == [Change("k", 2, 1, "changed"), Change("new", 3, None, "removed")]
    assert differences(first, third) == [Change("new", None, 3, "added")]
    assert differences(start, third) == [Change("k", 0, 1, "changed"), Change("new", None, 3, "added")]


def test_a_comparison_leaves_out_unknown_values() -> None:
    history = History([event(), event(k=1), event(k=2)], baseline=None, present={"k": 2})
    first, second = map(history.state_at, (0, 1))
    assert differences(first, second) == [Change("k", None, 1, "written")]
    assert differences(second, first) == []
