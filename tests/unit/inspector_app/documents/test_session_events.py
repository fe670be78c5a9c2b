from __future__ import annotations

import pytest

from inspector_app.documents.session_events import MOST_REQUESTED, PAGE, PAGES_KEPT, SessionEvents
from runtime.events import Event


def event(name: str) -> Event:
    return Event(author="a", id=name)


def long_session(pages: int, asked: list[int]) -> SessionEvents:
    return SessionEvents(stored_count=pages * PAGE, decode=event, on_request=lambda: asked.append(1))


def names(page: int) -> list[str]:
    return [f"{page}/{number}" for number in range(PAGE)]


def test_events_in_memory_are_a_sequence() -> None:
    events = SessionEvents([event("a"), event("b")])
    events.append(event("c"))
    assert [found.id for found in events] == ["a", "b", "c"]
    assert events[-1].id == "c"
    assert [found.id for found in events[1:]] == ["b", "c"]
    assert events.index_of("b") == 1
    assert events.index_of("d") is None
    assert not events.is_long
    with pytest.raises(IndexError):
        events.cached(3)


def test_a_page_is_requested_once_and_its_events_are_decoded_on_access() -> None:
    asked: list[int] = []
    events = long_session(3, asked)
    assert events.cached(PAGE + 1) is None
    assert events.cached(PAGE + 2) is None
    assert asked == [1]
    with pytest.raises(LookupError):
        events[PAGE]
    assert events.next_requested_page() == (PAGE, 2 * PAGE)
    page: list[object] = list(names(1))
    events.store_page(PAGE, page)
    assert events.next_requested_page() is None
    found = events.cached(PAGE + 1)
    assert found is not None
    assert found.id == "1/1"
    assert events.cached(PAGE + 1) is found
    assert [isinstance(row, Event) for row in page[:3]] == [False, True, False]


def test_the_latest_request_comes_first_and_old_requests_are_dropped() -> None:
    asked: list[int] = []
    events = long_session(40, asked)
    for page in range(20):
        events.cached(page * PAGE)
    assert asked == [1]
    order = []
    while (wanted := events.next_requested_page()) is not None:
        order.append(wanted[0] // PAGE)
        events.store_page(wanted[0], names(wanted[0] // PAGE))
    assert order == list(range(19, 19 - MOST_REQUESTED, -1))


def test_reading_the_cache_only_requests_no_page() -> None:
    asked: list[int] = []
    events = long_session(2, asked)
    assert events.cached(0, request=False) is None
    assert asked == []
    assert events.next_requested_page() is None


def test_the_number_of_cached_pages_is_bounded() -> None:
    events = long_session(200, [])
    for page in range(200):
        events.store_page(page * PAGE, names(page))
    held = [page for page in range(200) if events.is_cached(page * PAGE)]
    assert held == list(range(200 - PAGES_KEPT, 200))


def test_new_events_follow_the_stored_ones() -> None:
    events = long_session(1, [])
    events.append(event("new"))
    assert len(events) == PAGE + 1
    assert events.index_of("new") == PAGE
    assert events.in_memory == [events[PAGE]]


def test_the_last_ids_are_returned_without_decoding_events() -> None:
    def refuse(_row: object) -> Event:
        raise AssertionError

    events = SessionEvents(stored_count=PAGE + 2, decode=refuse)
    events.store_page(PAGE, [("x", "", 0, ""), ("y", "", 0, "")])
    events.append(event("new"))
    assert events.last_ids(2) == ["y", "new"]
    assert events.last_ids(100) == ["x", "y", "new"]


def test_evicted_events_are_read_as_pages() -> None:
    asked: list[int] = []
    events = long_session(1, asked)
    for number in range(PAGE + 5):
        events.append(event(f"new {number}"))
    going_through = events.in_memory
    events.evict(PAGE + 2, event)
    assert len(events) == 2 * PAGE + 5
    assert [found.id for found in events.in_memory] == [f"new {number}" for number in range(PAGE + 2, PAGE + 5)]
    assert len(going_through) == PAGE + 5, "a list that a caller iterates must not change"
    assert (events.index_of("new 0"), events.index_of(f"new {PAGE + 2}")) == (None, 2 * PAGE + 2)
    assert events.cached(PAGE) is None
    assert events.next_requested_page() == (PAGE, 2 * PAGE)


def test_a_page_that_ended_at_an_evicted_event_is_read_again() -> None:
    events = SessionEvents(stored_count=PAGE + 1, decode=event, on_request=lambda: None)
    events.store_page(PAGE, ["0"])
    for number in range(3):
        events.append(event(f"new {number}"))
    events.evict(2, event)
    assert not events.is_cached(PAGE)
    assert events.cached(PAGE) is None
    assert events.next_requested_page() == (PAGE, PAGE + 3)
    events.store_page(PAGE, ["0"])  # requested before the eviction
    assert events.next_requested_page() == (PAGE, PAGE + 3)
    events.store_page(PAGE, ["0", "new 0", "new 1"])
    assert [found.id for found in events[PAGE:]] == ["0", "new 0", "new 1", "new 2"]
