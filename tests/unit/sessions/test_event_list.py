"""The lazily decoded event list, alone and as `Session.events`."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from runtime.events import Event, EventActions
from runtime.history.rewound import without_rewound
from runtime.sessions import Session
from runtime.sessions.event_list import EventList, StoredRow, events_of
from runtime.sessions.session import SessionKey


class Reader:
    """Decodes rows and records their ids."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, row: StoredRow) -> Event:
        self.read.append(row[0])
        return Event(id=row[0], invocation_id=row[1], author="me", timestamp=1.0)


def event(name: str, invocation: str = "i0") -> Event:
    return Event(id=name, invocation_id=invocation, author="me", timestamp=1.0)


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def events(reader: Reader) -> EventList:
    return EventList([(f"e{number}", f"i{number // 2}", "{}") for number in range(6)], reader)


EXPECTED = [event(f"e{number}", f"i{number // 2}") for number in range(6)]


def test_events_are_decoded_on_first_access_only(events: EventList, reader: Reader) -> None:
    assert len(events) == 6
    assert events.last_id() == "e5"
    assert reader.read == []
    assert events[-1] is events[5]
    assert [each.id for each in events[1:3]] == ["e1", "e2"]
    assert reader.read == ["e5", "e1", "e2"]
    newest = iter(reversed(events))
    assert (next(newest).id, next(newest).id) == ("e5", "e4")
    assert reader.read == ["e5", "e1", "e2", "e4"]


def test_an_invocation_is_found_without_decoding_the_others(events: EventList, reader: Reader) -> None:
    assert [each.id for each in events.of_invocation("i1")] == ["e2", "e3"]
    assert reader.read == ["e2", "e3"]
    assert events.of_invocation("none") == []
    events.add_committed([("e6", "i1", "{}"), event("e7", "i1")])
    assert [each.id for each in events.of_invocation("i1")] == ["e2", "e3", "e6", "e7"]
    del events[0]
    assert [each.id for each in events_of(events, "i1")] == ["e2", "e3", "e6", "e7"]
    assert [each.id for each in events_of(list(events), "i1")] == ["e2", "e3", "e6", "e7"]


def test_equals_a_list_of_the_same_events(events: EventList) -> None:
    assert events == EXPECTED
    assert EXPECTED == events  # noqa: SIM300
    assert events == EventList(EXPECTED)
    assert events != EXPECTED[:5]
    assert events != [*EXPECTED[:5], event("other")]
    assert events != "events"
    assert EventList() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda events: events.append(event("new")),
        lambda events: events.extend([event("new"), event("newer")]),
        lambda events: events.insert(2, event("new")),
        lambda events: events.pop(),
        lambda events: events.pop(0),
        lambda events: events.remove(EXPECTED[3]),
        lambda events: events.reverse(),
        lambda events: events.clear(),
        lambda events: events.sort(key=lambda each: each.id, reverse=True),
        lambda events: events.__setitem__(0, event("new")),
        lambda events: events.__setitem__(slice(1, 3), [event("new")]),
        lambda events: events.__delitem__(slice(0, None, 2)),
        lambda events: events.__iadd__([event("new")]),
    ],
)
def test_changes_like_a_list_and_marks_itself_edited(events: EventList, change: Any) -> None:
    events.derived["answer"] = 42
    plain = list(EXPECTED)
    change(plain)
    change(events)
    assert events == plain
    assert events.edited
    # Derived data is kept only if no event was moved, replaced or removed.
    assert events.derived == ({"answer": 42} if plain[:6] == EXPECTED else {})


def test_reads_like_a_list(events: EventList) -> None:
    assert list(events) == EXPECTED
    assert EXPECTED[2] in events
    assert events.index(EXPECTED[2]) == 2
    assert events.count(EXPECTED[2]) == 1
    assert events + EXPECTED == EXPECTED + events == EXPECTED * 2
    assert events[::-2] == EXPECTED[::-2]
    assert repr(events) == repr(EXPECTED)
    assert events[10:] == []
    with pytest.raises(IndexError):
        events[6]
    with pytest.raises(TypeError):
        hash(events)
    assert not events.edited


def test_iteration_includes_events_added_meanwhile(events: EventList) -> None:
    seen = []
    for each in events:
        seen.append(each.id)
        if each.id == "e5":
            events.add_committed([event("late")])
    assert seen[-1] == "late"


def test_a_copy_is_independent(events: EventList, reader: Reader) -> None:
    shallow, deep = copy.copy(events), copy.deepcopy(events)
    assert reader.read == []
    events[0].author = "changed"
    shallow.append(event("new"))
    assert (len(events), len(shallow), len(deep)) == (6, 7, 6)
    assert (shallow[0].author, deep[0].author) == ("me", "me")
    again = copy.deepcopy(events)
    again[0].author = "again"
    assert events[0].author == "changed"
    assert pickle.loads(pickle.dumps(again)) == again


class TestInASession:
    """An `EventList` as `Session.events`."""

    def session(self, events: Any) -> Session:
        return Session(id="s", app_name="a", user_id="u", events=events)

    def test_accepts_the_values_of_a_list_field(self, events: EventList) -> None:
        plain = self.session(list(EXPECTED))
        assert isinstance(plain.events, EventList)
        assert plain == self.session(events) == self.session(tuple(EXPECTED)) == self.session([each.model_dump() for each in EXPECTED])
        assert self.session(events).events is not events
        assert Session(id="s", app_name="a", user_id="u").events == []
        with pytest.raises(ValidationError):
            self.session([1])
        with pytest.raises(ValidationError):
            self.session("text")

    def test_dumps_as_a_list(self, events: EventList) -> None:
        lazy = self.session([])
        lazy.events = events
        plain = self.session(EXPECTED)
        assert lazy.model_dump() == plain.model_dump()
        assert lazy.model_dump(by_alias=True, exclude_none=True) == plain.model_dump(by_alias=True, exclude_none=True)
        assert lazy.model_dump_json() == plain.model_dump_json()
        assert lazy.model_dump(mode="json")["events"] == [each.model_dump(mode="json") for each in EXPECTED]
        assert Session.model_validate_json(lazy.model_dump_json()) == lazy
        assert Session.model_validate(lazy.model_dump()) == lazy
        assert Session.model_json_schema()["properties"]["events"]["type"] == "array"

    def test_a_plain_list_can_replace_it(self) -> None:
        session = self.session([])
        session.events = list(EXPECTED)  # type: ignore[assignment]
        assert Session.model_validate_json(session.model_dump_json()).events == EXPECTED

    def test_deep_copies_share_nothing(self, events: EventList) -> None:
        session = self.session(events)
        session.events[0].author = "changed"
        copied = session.model_copy(deep=True)
        copied.events[0].author = "copied"
        copied.events.clear()
        assert session.events[0].author == "changed"
        assert len(session.events) == 6

    def test_a_session_constructed_without_validation_equals_a_validated_one(self) -> None:
        plain = Session(id="s", app_name="a", user_id="u", state={"k": [1]}, events=[], last_update_time=2.0)
        trusted = Session.construct_unchecked(SessionKey("a", "u", "s"), {"k": [1]}, 2.0)
        assert trusted == plain
        assert trusted.model_fields_set == plain.model_fields_set
        assert trusted.model_dump_json() == plain.model_dump_json()
        assert trusted.model_copy(deep=True) == plain
        assert pickle.loads(pickle.dumps(trusted)) == plain
        trusted._revision = 1
        assert (trusted.model_copy()._revision, repr(trusted)) == (1, repr(plain))


class TestRewinds:
    """The events that `without_rewound` returns."""

    def rows(self, *targets: str | None, read: Any) -> EventList:
        """Return one row per invocation i0, i1 and so on; a row with a target is a rewind to it."""
        texts = [
            event(f"e{number}", f"i{number}").model_copy(update={"actions": EventActions(rewind_before_invocation_id=target)})
            for number, target in enumerate(targets)
        ]
        return EventList([(each.id, each.invocation_id, each.model_dump_json(exclude_none=True)) for each in texts], read)

    def test_nothing_is_decoded_without_a_rewind(self, reader: Reader) -> None:
        events = self.rows(None, None, None, read=reader)
        assert without_rewound(events) is events
        assert reader.read == []

    @pytest.mark.parametrize(
        ("targets", "kept"),
        [
            ((None, None, None, "i1", None), "04"),
            ((None, "i0", None, "i0", None), "24"),
            ((None, None, "i0"), ""),
            ((None, None, "i0", "i1", None), "4"),
            ((None, None, None, "i2", "i1", None), "05"),
        ],
    )
    def test_rewound_events_are_left_out(self, targets: tuple[str | None, ...], kept: str) -> None:
        decoded: list[str] = []

        def read(row: StoredRow) -> Event:
            decoded.append(row[0])
            return Event.model_validate_json(row[2])

        left = without_rewound(self.rows(*targets, read=read))
        assert decoded == [f"e{number}" for number, target in enumerate(targets) if target]
        assert [each.id for each in left] == [f"e{number}" for number in kept]
        assert left == without_rewound(list(self.rows(*targets, read=read)))

    def test_a_rewind_added_later_takes_effect(self) -> None:
        events = EventList([event("e0", "i0"), event("e1", "i1")])
        assert without_rewound(events) is events
        events.add_committed([event("e2", "i2").model_copy(update={"actions": EventActions(rewind_before_invocation_id="i1")})])
        assert [each.id for each in without_rewound(events)] == ["e0"]


def test_only_the_newest_stored_events_of_a_run_stay_decoded(monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    monkeypatch.setattr("runtime.sessions.event_list._NEWEST", 3)
    events = EventList((), reader)
    stored = [event(f"e{number}") for number in range(8)]
    for each in stored:
        events.add_stored(each, (each.id, each.invocation_id, "{}"))
    assert all(mine is each for mine, each in zip(events[5:], stored[5:], strict=True))
    assert events.last_of_invocation("i0") is stored[-1]
    assert reader.read == []
    assert events == stored
    assert reader.read == ["e0", "e1", "e2", "e3", "e4"]
    events.add_stored(event("e8"), ("e8", "i0", "{}"))
    assert [each.id for each in events] == [f"e{number}" for number in range(9)]
    assert reader.read == ["e0", "e1", "e2", "e3", "e4", "e5"], "what an agent has read stays decoded"


def test_an_edited_list_keeps_what_the_agent_put_into_it(monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    monkeypatch.setattr("runtime.sessions.event_list._NEWEST", 2)
    events = EventList((), reader)
    events.add_stored(event("e0"), ("e0", "i0", "{}"))
    events.insert(0, event("inserted"))
    events.add_stored(event("e1"), ("e1", "i0", "{}"))
    events[2] = event("replaced")
    for number in range(2, 6):
        events.add_stored(event(f"e{number}"), (f"e{number}", "i0", "{}"))
    assert [each.id for each in events] == ["inserted", "e0", "replaced", "e2", "e3", "e4", "e5"]


def test_events_without_a_row_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.sessions.event_list._NEWEST", 1)
    events = EventList()
    stored = [event(f"e{number}") for number in range(4)]
    for each in stored:
        events.add_stored(each, None)
    assert all(mine is each for mine, each in zip(events, stored, strict=True))
    assert events.last_of_invocation("other") is None
