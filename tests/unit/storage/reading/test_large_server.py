"""On a server with many events, what the window and the commands read of a session is found by indexes.

`make test` makes 50,000 events, because more take longer and have the same plans; `make soak` makes 10,000,000.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from runtime.events import Event
from runtime.sessions import DatabaseSessionService, GetSessionConfig, SessionKey
from runtime.storage.layouts.table_names import COMMITS
from runtime.storage.reading.reader import StoredDatabase
from tests.unit.storage.reading.large_server import EVENTS, FEW, LONG, SHORT, copy_as_google_adk_makes_it, drop, make

pytestmark = pytest.mark.sweep
NEWEST = f"e-{EVENTS - 1}"


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    url = make()
    yield url
    drop(url)


@pytest.fixture(scope="module")
def theirs(ours: str) -> Iterator[str]:
    url = copy_as_google_adk_makes_it(ours)
    yield url
    drop(url)


Statements = list[tuple[str, Any]]


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    """Return what is sent to the server from now on."""
    sent: Statements = []
    execute = psycopg.Connection.execute

    def note(connection: Any, query: Any, params: Any = None, **options: Any) -> Any:
        sent.append((query, params))
        return execute(connection, query, params, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", note)
    return sent


def scanned(url: str, sent: Statements) -> set[str]:
    """Return the tables that the server reads as a whole for some statements, by its own plans."""

    def tables(node: dict[str, Any]) -> Iterator[str]:
        if node["Node Type"] == "Seq Scan":
            yield node["Relation Name"]
        for child in node.get("Plans", ()):
            yield from tables(child)

    found: set[str] = set()
    with psycopg.connect(url) as connection:
        for query, params in list(sent):
            if str(query).lstrip().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")):
                ((plan,),) = connection.execute(f"EXPLAIN (FORMAT JSON) {query}".encode(), params).fetchall()
                found |= set(tables(plan[0]["Plan"]))
        connection.rollback()
    return found & {"events", "sessions", COMMITS}


READS: dict[str, Callable[[StoredDatabase], object]] = {
    "a session opened": lambda database: (database.pages(SHORT), database.state(SHORT), database.created(SHORT)),
    "a long session's first page": lambda database: database.events(LONG, limit=50),
    "the page after an event": lambda database: database.events(LONG, after=f"e-{FEW + 500}", limit=50),
    "the page after an event without a record": lambda database: database.events(LONG, after=f"e-{FEW + 509}", limit=50),
    "the newest events": lambda database: database.newest_events(LONG, 50),
    "events by the beginning of their id": lambda database: database.ids_beginning(SHORT, "e-7"),
    "whether a session is long": lambda database: database.count_up_to(LONG, 1_000),
    "what is pending in a session": lambda database: database.pending(SHORT),
    "a session's invocations, for its costs": lambda database: database.invocations(SHORT),
}
OF_OURS: dict[str, Callable[[StoredDatabase], object]] = {
    "the state at any event": lambda database: database.history(SHORT).state_at(50),
    "who wrote a shared key": lambda database: database.writes(SHORT, "user:plan"),
    "a session's first state": lambda database: database.first_state(SHORT),
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", ["ours", "theirs"])
def test_what_is_read_of_a_session_is_found_by_an_index(
    kind: str, name: str, statements: Statements, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(kind)
    with StoredDatabase.open(url) as database:
        statements.clear()
        READS[name](database)
        assert len(statements) > 2
        assert scanned(url, statements) == set()


@pytest.mark.parametrize("name", OF_OURS)
def test_a_sessions_past_is_found_by_an_index_of_ours(name: str, ours: str, statements: Statements) -> None:
    with StoredDatabase.open(ours) as database:
        statements.clear()
        assert OF_OURS[name](database) is not None or name == "a session's first state"
        assert scanned(ours, statements) == set()


def test_the_list_of_sessions_reads_no_events(ours: str, theirs: str, statements: Statements) -> None:
    for url in (ours, theirs):
        with StoredDatabase.open(url) as database:
            statements.clear()
            listed = database.listing()
            assert {summary.event_count for summary in listed} == {None}
            assert (len(listed), listed[0].key) == (FEW // 100 + 2, SessionKey("shop", "ana", "later"))
            assert scanned(url, statements) <= {"sessions"}


def test_pages_of_a_long_session_are_complete_and_in_order(ours: str, theirs: str) -> None:
    for url in (ours, theirs):
        with StoredDatabase.open(url) as database:
            whole = [event.id for event in database.events(LONG, limit=3_000)]
            found: list[str] = []
            while len(found) < 3_000:
                found += [event.id for event in database.events(LONG, after=found[-1] if found else None, limit=1_000)]
            assert found == whole
            assert [event.id for event in database.newest_events(LONG, 3)][-1] == NEWEST
            recorded = [name for name in whole if not name.endswith("9")]
            assert recorded == sorted(recorded, key=lambda name: int(name[2:]))


async def test_a_run_reads_and_writes_by_indexes(ours: str, statements: Statements) -> None:
    async with DatabaseSessionService(ours) as service:
        first = await service.list_sessions(app_name="shop", limit=50)
        statements.clear()
        await service.list_sessions(app_name="shop", limit=50, after=first.sessions[-1].key)
        recent = GetSessionConfig(num_recent_events=20)
        await service.get_session(app_name="shop", user_id=LONG.user_id, session_id=LONG.session_id, config=recent)
        session = await service.get_session(app_name="shop", user_id="user-3", session_id="s-3")
        assert session is not None and len(session.events) == 100
        await service.append_event(session, Event(author="clerk"))
        await service.delete_session(app_name="shop", user_id="user-4", session_id="s-4")
    assert scanned(ours, statements) == set()


def test_the_newest_events_take_no_longer_than_a_click(ours: str) -> None:
    """Wall time differs from machine to machine, so the limit is wide: reading the whole session took thirty times as long."""
    with StoredDatabase.open(ours) as database:
        whole = time.process_time()
        database.events(LONG)
        whole = time.process_time() - whole
        newest = time.process_time()
        database.newest_events(LONG, 50)
        assert time.process_time() - newest < max(whole / 5, 0.05)
