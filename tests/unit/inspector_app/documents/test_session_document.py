"""The session document and its notifications."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from typing import Any

from google.genai import types

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed, SessionDocument
from inspector_app.documents.session_events import PAGE, SessionEvents
from runtime.events import Event
from runtime.history.invocations import Invocation
from runtime.history.state_at import History
from runtime.sessions.session import SessionKey

KEY = SessionKey("app", "user", "s")
ADDRESS = SessionAddress("memory:", KEY)


def event(name: str, invocation: str = "i", **fields: Any) -> Event:
    return Event(id=name, author="a", invocation_id=invocation, timestamp=1.0, **fields)


def committed(*names: str, invocation: str = "i") -> list[Committed]:
    return [Committed(event(name, invocation), {}) for name in names]


def history(events: Sequence[Event]) -> History:
    return History(events, baseline={})


def short(*names: str) -> SessionDocument:
    events = [event(name) for name in names]
    return SessionDocument(ADDRESS, SessionEvents(events), history(events))


def long(pages: int = 2) -> SessionDocument:
    count = pages * PAGE
    events = SessionEvents(stored_count=count, decode=lambda row: event(row[0]))
    return SessionDocument(ADDRESS, events, groups=InvocationGroups([(0, "old")], count))


class Noted(list[Any]):
    """All notifications of a document, in order."""

    def __init__(self, document: SessionDocument) -> None:
        super().__init__()
        document.appended.add(lambda first, events: self.append(("appended", first, [found.id for found in events])))
        document.updated.add(lambda first, end: self.append(("updated", first, end)))
        document.evicted.add(lambda count: self.append(("evicted", count)))
        document.regrouped.add(lambda: self.append("regrouped"))
        document.statuses_changed.add(lambda: self.append("statuses"))


def test_a_batch_is_appended_with_one_notification() -> None:
    document = short("0")
    noted = Noted(document)
    assert [added.id for added in document.append(committed("1", "2"))] == ["1", "2"]
    assert noted == [("appended", 1, ["1", "2"]), "statuses"]
    assert document.statuses == {"i": "running"}
    assert document.index_of("2") == 2
    assert document.past is not None and len(document.past) == 3
    assert document.groups[-1].count == 3


def test_an_event_that_the_document_has_is_not_appended_again() -> None:
    document = short("0", "1")
    noted = Noted(document)
    assert document.append(committed("1")) == []
    assert noted == []


def test_the_document_has_the_new_events_when_its_listeners_are_called() -> None:
    document = short("0")
    counts = []
    document.appended.add(lambda _first, _events: counts.append((len(document.events), document.groups[-1].end)))
    document.append(committed("1", "2"))
    assert counts == [(3, 3)]


def test_events_committed_during_the_reading_are_appended_once() -> None:
    document = short("0", "1")
    noted = Noted(document)
    document.append_missed(committed("1", "2"))
    assert noted == [("appended", 2, ["2"])]
    assert document.statuses == {}, "the events do not show whether the run continues"


def test_neighbouring_events_of_an_invocation_are_a_group() -> None:
    document = short("0")
    document.append([*committed("1"), *committed("2", invocation="other"), *committed("3")])
    assert [(group.invocation_id, group.count, group.continued) for group in document.groups] == [
        ("i", 2, False),
        ("other", 1, False),
        ("i", 1, True),
    ]


def test_tokens_of_all_events_in_memory_are_counted() -> None:
    usage = types.GenerateContentResponseUsageMetadata(total_token_count=7)
    document = SessionDocument(ADDRESS, SessionEvents([event("0", usage_metadata=usage)]))
    document.append([Committed(event("1", usage_metadata=usage), {})])
    assert document.total_tokens == 14


def test_a_page_is_put_into_the_cache() -> None:
    document = long()
    noted = Noted(document)
    document.put(PAGE, [(str(place),) for place in range(PAGE, 2 * PAGE)])
    assert noted == [("updated", PAGE, 2 * PAGE)]
    assert document.events[PAGE].id == str(PAGE)


def test_groups_of_the_stored_events_are_completed_by_those_in_memory() -> None:
    document = long()
    document.append(committed("new"))
    noted = Noted(document)
    document.set_groups(InvocationGroups([(0, "old"), (PAGE, "i")], 2 * PAGE))
    assert noted == ["regrouped"]
    assert [(group.invocation_id, group.end) for group in document.groups] == [("old", PAGE), ("i", 2 * PAGE + 1)]


def test_evicted_events_are_read_from_the_database() -> None:
    class Pages:
        history: History | None = None

        def evict(self, row_ids: Sequence[int], past: History, events: SessionEvents) -> None:
            self.history = past
            events.evict(len(row_ids), lambda row: event(row[0]))

        def close(self) -> None:
            """Close nothing."""

    document = short("0", "1", "2")
    past, pages = document.past, Pages()
    noted = Noted(document)
    document.evict([10, 20], pages)
    assert noted == [("evicted", 2)]
    assert [found.id for found in document.events.in_memory] == ["2"]
    assert document.index_of("0") is None
    assert len(document.events) == 3
    assert document.past is past and document.history is None
    document.put(0, [("0",), ("1",)])
    assert [found.id for found in document.events] == ["0", "1", "2"]


def test_statuses_are_notified_only_when_one_changes() -> None:
    document = short("0")
    noted = Noted(document)
    document.set_statuses({"i": "held"})
    document.set_statuses({"i": "held"})
    document.set_statuses({"other": "finished"})
    assert noted == ["statuses", "statuses"]
    assert document.statuses == {"i": "held", "other": "finished"}


def test_invocations_bring_their_statuses() -> None:
    document = short("0")
    document.set_statuses({"i": "running"})
    document.set_invocations([Invocation("i", "finished", "", "0", "0", {})])
    assert document.statuses == {"i": "finished"}


def test_a_removed_listener_is_not_called() -> None:
    document = short("0")
    calls: list[int] = []

    def listener() -> None:
        calls.append(1)

    document.statuses_changed.add(listener)
    document.set_statuses({"i": "held"})
    document.statuses_changed.remove(listener)
    document.set_statuses({"i": "running"})
    assert calls == [1]


def test_a_closed_document_is_marked() -> None:
    document = short("0")
    assert not document.closed
    document.close()
    assert document.closed


class Follower:
    """A listener that refers to the document, as a controller does."""

    def __init__(self, document: SessionDocument) -> None:
        self.document = document
        document.appended.add(self.on_appended)

    def on_appended(self, _first: int, _events: Sequence[Event]) -> None:
        """Do nothing."""


def test_a_closed_document_is_freed_without_the_garbage_collector() -> None:
    document = short("0", "1")
    Follower(document)
    freed = weakref.ref(document)
    gc.disable()
    try:
        document.close()
        del document
        assert freed() is None
    finally:
        gc.enable()


def test_removing_a_listener_of_a_closed_document_does_nothing() -> None:
    document = short("0")
    follower = Follower(document)
    document.close()
    document.appended.remove(follower.on_appended)
    document.append(committed("1"))
    assert len(document.events) == 2
