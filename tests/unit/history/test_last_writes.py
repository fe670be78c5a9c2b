"""What is known of a state from the events before it alone."""

from __future__ import annotations

from typing import Any

from runtime.history.last_writes import LastWrites, recent_state
from runtime.history.steps import UNKNOWN_DELTA, StepsOfEvents
from tests.unit.history.events import event


class Steps(StepsOfEvents):
    """Steps that record what was read; an event that cannot be read has the key `lost`."""

    read_down_to = 1_000_000

    def deltas(self, first: int, end: int) -> list[Any]:
        self.read_down_to = min(self.read_down_to, first)
        return [UNKNOWN_DELTA if "lost" in delta else delta for delta in super().deltas(first, end)]


def steps(*deltas: dict[str, Any]) -> Steps:
    return Steps([event(**delta) for delta in deltas])


def last(found: Steps, index: int, most: int = 100, keys: tuple[str, ...] = ("a", "b")) -> LastWrites:
    writes = LastWrites(found, index)
    writes.read_back(keys, most)
    return writes


def test_the_last_write_of_each_key_is_found() -> None:
    found = steps({"a": 1, "b": 1}, {"a": 2}, {"a": 3})
    assert last(found, 1).values == {"a": 2, "b": 1}
    assert last(found, 2).values == {"a": 3, "b": 1}


def test_no_more_is_read_than_needed() -> None:
    found = steps(*({"a": number, "b": number} for number in range(5_000)))
    assert last(found, 4_999).values == {"a": 4_999, "b": 4_999}
    assert found.read_down_to >= 3_000 - 1
    assert last(found, 4_999, 10, ("early",)).begin == 4_990


def test_nothing_is_known_before_an_event_that_cannot_be_read() -> None:
    assert last(steps({"b": 1}, {"lost": 1}, {"a": 1}), 2).values == {"a": 1}


def test_a_key_is_known_if_its_last_write_is_its_present_value() -> None:
    found = steps({"a": 1, "b": 1, "c": {"x": 1}}, {"a": 2, "b": 2, "c": {"y": 1}})
    present = {"a": 2, "b": "changed without an event", "c": {"x": 1, "y": 1}, "user:u": 1, "old": 1}
    state = recent_state(present, last(found, 1), last(found, 0))
    assert state.session == {"a": 1}
    assert state.unknown == ["b", "c", "old", "user:u"]


def test_the_next_event_adds_its_writes() -> None:
    found = steps({"a": 1, "b": 1})
    assert last(found, 0).followed_by({"a": 2}).values == {"a": 2, "b": 1}
    assert last(found, 0).followed_by(UNKNOWN_DELTA).values == {}
