"""The state after any event."""

from __future__ import annotations

import pytest

from runtime.history.state_at import History
from runtime.history.state_checkpoints import SOMEBODY_ELSE, SharedWrite
from runtime.history.steps import StepsOfEvents
from runtime.sessions.state import Change
from tests.unit.history.events import event


@pytest.mark.rule("S2")
def test_with_a_baseline_nothing_is_unknown() -> None:
    history = History(
        [event(k=1), event(**{"user:x": 2, "new": 3})],
        baseline={"k": 0},
        shared=[SharedWrite(-1, {}, "user"), SharedWrite(-1, {"app:y": 1}, "app"), SharedWrite(1, {"app:y": 5})],
        present={"k": 1, "new": 3, "user:x": 2, "app:y": 5},
    )
    assert history.state_at(-1).merged() == {"k": 0, "app:y": 1}
    assert history.state_at(0).merged() == {"k": 1, "app:y": 1}
    after = history.state_at(1)
    assert (after.session, after.user, after.app) == ({"k": 1, "new": 3}, {"user:x": 2}, {"app:y": 5})
    assert [history.state_at(index).unknown for index in (-1, 0, 1)] == [[], [], []]


def test_a_complete_shared_write_replaces_its_scope() -> None:
    history = History(
        [event(), event(), event(**{"app:b": 3})],
        baseline={},
        shared=[SharedWrite(-1, {"app:a": 1, "user:a": 1}), SharedWrite(1, {"app:b": 2}, "app")],
        present={"app:b": 3, "user:a": 1},
    )
    assert [history.state_at(index).app for index in (0, 1, 2)] == [{"app:a": 1}, {"app:b": 2}, {"app:b": 3}], "others removed app:a"
    assert history.state_at(1).user == {"user:a": 1}, "the other scope is unchanged"


@pytest.mark.rule("S2")
def test_without_a_baseline_uncertain_keys_are_unknown() -> None:
    history = History([event(k=1), event(other=2)], baseline=None, present={"k": 1, "other": 2, "never_written": 3})
    start = history.state_at(-1)
    assert (start.session, start.unknown) == ({"never_written": 3}, ["k", "other"])
    assert history.state_at(0).session == {"k": 1, "never_written": 3}
    assert history.state_at(0).unknown == ["other"]
    assert history.state_at(1).unknown == []


def test_a_shared_key_without_writes_is_known_from_fixed_from_on() -> None:
    history = History([event(), event()], baseline=None, present={"user:x": 1, "app:y": 2}, fixed_from={"user": -1, "app": 1})
    assert [history.state_at(index).unknown for index in (-1, 0, 1)] == [["app:y"], ["app:y"], []]
    assert history.state_at(-1).user == {"user:x": 1}


def test_a_key_that_its_writes_do_not_explain_is_unknown() -> None:
    history = History([event(**{"user:x": 1})], baseline=None, present={"user:x": 2}, unexplained_keys={"user:x"})
    assert history.state_at(0).unknown == ["user:x"]
    assert history.state_at(0).user == {}


def test_patched_keys_are_merged() -> None:
    history = History([event(k={"a": 1}), event(k={"b": 2, "a": None})], baseline={}, present={"k": {"b": 2}}, merge_patched_keys={"k"})
    assert history.state_at(1).session == {"k": {"b": 2}}
    assert history.state_at(0).session == {"k": {"a": 1}}


def test_a_missing_index_raises_index_error() -> None:
    history = History([event()], baseline={})
    for index in (-2, 1):
        with pytest.raises(IndexError):
            history.state_at(index)
    with pytest.raises(IndexError):
        history.delta_at(-1)


def test_a_delta_has_the_old_value_including_earlier_writes_of_others() -> None:
    history = History(
        [event(k=1, **{"user:x": 1}), event(k=1, **{"user:x": 3})],
        baseline={},
        shared=[SharedWrite(-1, {}, "user"), SharedWrite(1, {"user:x": 2})],
    )
    assert history.delta_at(0) == [Change("k", None, 1, "added"), Change("user:x", None, 1, "added")]
    assert history.delta_at(1) == [Change("k", 1, 1, "changed"), Change("user:x", 2, 3, "changed")]


def test_a_delta_over_an_unknown_value_is_marked_as_written() -> None:
    assert History([event(k=1)], baseline=None, present={"k": 1}).delta_at(0) == [Change("k", None, 1, "written")]


def test_temp_keys_live_as_long_as_their_invocation() -> None:
    events = [event("one"), event("one"), event("two"), event("one")]
    history = History(events, baseline={}, temp={events[0].id: {"temp:a": 1}, events[1].id: {"temp:a": 2}})
    assert [history.state_at(index).temp for index in range(4)] == [{"temp:a": 1}, {"temp:a": 2}, {}, {"temp:a": 2}]
    assert history.delta_at(1) == [Change("temp:a", 1, 2, "changed")]
    assert history.delta_at(0) == [Change("temp:a", None, 1, "added")]


def test_history_grows_with_a_running_session() -> None:
    history = History([], baseline={"k": 0})
    for number in range(1000):
        history.append(event(k=number), {"temp:n": number})
        assert history.state_at(number).session == {"k": number}
    assert history.state_at(3).temp == {"temp:n": 3}
    assert len(history.events) == 1000


def test_writers_of_values_are_known() -> None:
    history = History(
        [event(k=1), event(other=1), event(k=2)],
        baseline={"first": 0},
        shared=[SharedWrite(-1, {"user:x": 1}), SharedWrite(1, {"app:y": 2})],
        temp={},
    )
    assert history.writers_at(-1) == {}
    assert history.writers_at(1) == {"k": 0, "other": 1, "app:y": SOMEBODY_ELSE}
    assert history.writers_at(2) == {"k": 2, "other": 1, "app:y": SOMEBODY_ELSE}


def test_a_long_session_is_read_in_pieces_and_grows() -> None:
    events = [event(**{f"k{number % 3}": {"n": number}, "patched": {str(number % 5): number}}) for number in range(10_000)]
    present = {"k0": {"n": 9999}, "k1": {"n": 9997}, "k2": {"n": 9998}, "patched": {str(n): 9995 + n for n in range(5)}, "old": True}
    long = History((), baseline=None, present=present, steps=StepsOfEvents(events))
    plain = History(events, baseline=None, present=present, merge_patched_keys={"patched"})
    rounds = 0
    while not long.is_read:
        long.read_on()
        rounds += 1
    assert rounds == 3
    for index in (0, 255, 256, 5000, 9999):
        assert long.state_at(index) == plain.state_at(index)
        assert long.delta_at(index) == plain.delta_at(index)
        assert long.writers_at(index) == plain.writers_at(index)
    long.append(event(k0="new"), {"temp:t": 1})
    assert long.state_at(10_000).session["k0"] == "new"
    assert long.state_at(10_000).temp == {"temp:t": 1}
    assert long.state_at(9_999).session["k0"] == {"n": 9999}


def test_later_writes_of_others_are_distinguished_from_earlier_ones() -> None:
    shared = [SharedWrite(-1, {"user:old": 1}, "user"), SharedWrite(1, {"app:x": 1}), SharedWrite(2, {"user:y": 2})]
    history = History([event(), event(), event()], baseline={}, shared=shared)
    assert history.changed_elsewhere_since(0) == {"app:x", "user:y"}
    assert history.changed_elsewhere_since(1) == {"user:y"}
    assert history.changed_elsewhere_since(2) == set()


def test_steps_handed_over_are_read_from_the_store() -> None:
    events = [event(**{f"k{number % 3}": number}) for number in range(1_000)]
    stored = events[:400]
    plain = History(events[:400], baseline={}, present={"old": True})
    short = History(events[:400], baseline={}, present={"old": True})
    long = History((), baseline={}, present={"old": True}, steps=StepsOfEvents(stored))
    long.read_on()
    stored += events[400:]
    for number in range(400, 1_000):
        for history in (plain, short, long):
            history.append(events[number], {"temp:t": number} if number % 100 == 0 else None)
        if number in (450, 700):
            for history in (short, long):
                history.hand_over(number - 30, StepsOfEvents(stored))
                assert len(history) == number + 1
    for history in (short, long):
        history.hand_over(10, StepsOfEvents([]))  # already stored
        assert list(history.events) == []
        for index in (0, 255, 399, 400, 419, 420, 669, 670, 900, 999):
            assert history.state_at(index) == plain.state_at(index)
            assert history.delta_at(index) == plain.delta_at(index)
            assert history.writers_at(index) == plain.writers_at(index)
