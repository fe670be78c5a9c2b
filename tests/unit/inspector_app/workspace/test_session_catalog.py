"""The catalog: lists joined with what changed since, forks, pending items and marks."""

from __future__ import annotations

from typing import Any

import pytest

from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.session_info import ForkInfo
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.history.invocations import PendingItem
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary
from tests.unit.inspector_app.workspace.fakes import FakeSource

DATABASE = "story.db"


def key(session_id: str) -> SessionKey:
    return SessionKey("story", "maria", session_id)


def address(session_id: str) -> SessionAddress:
    return SessionAddress(DATABASE, key(session_id))


def summary(session_id: str, count: int | None = 1, time: float = 0.0) -> SessionSummary:
    return SessionSummary(key(session_id), count, time)


def ids(catalog: SessionCatalog) -> list[str]:
    return sorted(found.key.session_id for found in catalog.sessions(DATABASE))


@pytest.fixture
def catalog(qapp: object) -> SessionCatalog:
    catalog = SessionCatalog()
    catalog.list_database(FakeSource(DATABASE), [summary("a", 1, 1.0), summary("b", 2, 2.0)])  # type: ignore[arg-type]
    return catalog


def collect(signal: Any) -> list[tuple[Any, ...]]:
    seen: list[tuple[Any, ...]] = []
    signal.connect(lambda *arguments: seen.append(arguments))
    return seen


def test_changes_are_joined_with_the_list(catalog: SessionCatalog) -> None:
    catalog.update_sessions(DATABASE, [summary("a", 5, 9.0), summary("c")], [key("b")])
    assert ids(catalog) == ["a", "c"]
    assert {found.key.session_id: found.event_count for found in catalog.sessions(DATABASE)} == {"a": 5, "c": 1}


def test_counting_does_not_undo_a_change_that_came_first(catalog: SessionCatalog) -> None:
    catalog.update_sessions(DATABASE, [summary("a", 5)], [key("b")])
    reported = collect(catalog.sessions_changed)
    catalog.count_sessions(DATABASE, [summary("a", 1), summary("b", 2)])
    assert [found.event_count for found in catalog.sessions(DATABASE)] == [5]
    assert [found.event_count for found in reported[0][1]] == [5]


def test_a_session_that_comes_back_is_listed_again(catalog: SessionCatalog) -> None:
    catalog.update_sessions(DATABASE, [], [key("b")])
    catalog.update_sessions(DATABASE, [summary("b")])
    assert ids(catalog) == ["a", "b"]


def test_listing_again_replaces_sessions_and_keeps_forks_and_pending_items(catalog: SessionCatalog) -> None:
    catalog.set_forks(DATABASE, {key("b"): ForkInfo(key("a"), "fork", "")})
    catalog.set_pending(address("a"), [PendingItem("interrupted", "one")])
    catalog.update_sessions(DATABASE, [summary("gone")])
    catalog.list_database(FakeSource(DATABASE), [summary("a")])  # type: ignore[arg-type]
    assert ids(catalog) == ["a"]
    assert catalog.fork_info(address("b")) is not None
    assert catalog.marks(DATABASE) == {key("a"): "interrupted"}


def test_the_newest_sessions_come_from_all_databases(catalog: SessionCatalog) -> None:
    catalog.list_database(FakeSource("other.db"), [summary("x", 1, 3.0)])  # type: ignore[arg-type]
    catalog.update_sessions(DATABASE, [summary("a", 2, 4.0)])
    assert catalog.newest(2) == [address("a"), SessionAddress("other.db", key("x"))]


def test_a_parent_is_found_in_the_same_database_while_it_exists(catalog: SessionCatalog) -> None:
    catalog.set_forks(DATABASE, {key("b"): ForkInfo(key("a"), "fork", "")})
    assert catalog.parent_of(address("b")) == address("a")
    assert catalog.parent_of(address("a")) is None
    catalog.update_sessions(DATABASE, [], [key("a")])
    assert catalog.parent_of(address("b")) is None


def test_the_same_forks_are_not_reported_twice(catalog: SessionCatalog) -> None:
    reported = collect(catalog.forks_changed)
    for _ in range(2):
        catalog.set_forks(DATABASE, {key("b"): ForkInfo(key("a"), "fork", "")})
    catalog.set_forks("closed.db", {})
    assert reported == [(DATABASE,)]


def test_only_examined_sessions_have_a_mark(catalog: SessionCatalog) -> None:
    catalog.set_pending(address("a"), [])
    assert (catalog.mark(address("a")), catalog.mark(address("b"))) == ("finished", None)


def test_the_run_s_mark_covers_that_of_pending_items(catalog: SessionCatalog) -> None:
    catalog.set_running(address("a"), "running")
    reported = collect(catalog.marks_changed)
    catalog.set_pending(address("a"), [PendingItem("confirmation", "one", "call")])
    assert catalog.mark(address("a")) == "running"
    catalog.set_running(address("a"), "running")
    assert len(reported) == 1, "the same mark again is no change"
    catalog.set_running(None)
    assert catalog.mark(address("a")) == "confirmation"
    assert [list(keys) for _, keys in reported] == [[key("a")], [key("a")]]


def test_a_session_whose_run_left_nothing_is_finished(catalog: SessionCatalog) -> None:
    catalog.set_running(address("b"), "running")
    catalog.set_running(None)
    assert catalog.mark(address("b")) == "finished"


def test_a_closed_database_takes_its_pending_items_with_it(catalog: SessionCatalog) -> None:
    other = SessionAddress("other.db", key("x"))
    catalog.set_pending(address("a"), [PendingItem("interrupted", "one")])
    catalog.set_pending(other, [PendingItem("interrupted", "two")])
    catalog.remove_database(DATABASE)
    assert list(catalog.pending) == [other]
    assert catalog.sessions(DATABASE) == []
    catalog.update_sessions(DATABASE, [summary("late")])
    assert catalog.sessions(DATABASE) == []
